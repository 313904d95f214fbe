// The verbs of `spillway`, one file each. A verb adds its options to the command line and leaves a
// function that runs it and answers with the exit code: 0 good, 1 not, 2 wrongly called, 3 the
// broker cannot be reached.
#pragma once

#include <functional>
#include <string_view>

namespace CLI {
class App;
}

namespace spillway::cli {

using Run = std::function<int()>;

// The end of --help; words that are added to the verb afterwards have them too.
void add_examples(CLI::App& verb, std::string_view examples);

Run add_agent(CLI::App& verb);
Run add_audit(CLI::App& verb);
Run add_broker(CLI::App& verb);
Run add_clusters(CLI::App& verb);
Run add_completion(CLI::App& verb);
Run add_contracts(CLI::App& verb);
Run add_demo(CLI::App& verb);
Run add_doctor(CLI::App& verb);
Run add_events(CLI::App& verb);
Run add_hold(CLI::App& verb);
Run add_identities(CLI::App& verb);
Run add_join(CLI::App& verb);
Run add_offers(CLI::App& verb);
Run add_pools(CLI::App& verb);
Run add_renew(CLI::App& verb);
Run add_sim(CLI::App& verb);
Run add_token(CLI::App& verb);
Run add_validate(CLI::App& verb);
Run add_whoami(CLI::App& verb);

}  // namespace spillway::cli
