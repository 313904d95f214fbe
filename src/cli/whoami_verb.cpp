// spillway whoami: the identity in the folder, as the broker knows it.
#include "cli/asking.h"
#include "cli/documents.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"
#include "pki/key.h"
#include "services/agent/credentials.h"

namespace spillway::cli {
namespace {

// To be given to others: spillway trust add NAME FINGERPRINT.
std::string own_fingerprint(const Asking& asking) {
  const auto member = agent::load_credentials(identity_dir(asking.dir));
  if (!member) return {};
  const auto key = pki::Key::from_pem(member->tls.key_pem);
  return key ? key->fingerprint() : std::string();
}

int run_whoami(const Asking& asking) {
  return with_session("whoami", asking, [&](Session& session) -> Status {
    const auto told = session.ask(&wire::BrokerClient::whoami);
    if (!told) return tl::unexpected(told.error());
    return show(asking.form(), json_of(*told), [&]() -> std::string {
      if (asking.form() == Form::plain) return safe(told->name) + "\n";
      Facts facts;
      facts.add("name", told->name);
      facts.add("federation", told->federation);
      facts.add("roles", model::to_text(told->roles));
      facts.add("certificate", "ends " + asking.clock()(told->not_after));
      facts.add("key", own_fingerprint(asking));
      return facts.text();
    });
  });
}

}  // namespace

void add_whoami(Word verb) {
  auto asking = std::make_shared<Asking>();
  add_asking(verb, *asking);
  verb.examples(
      "  spillway whoami\n"
      "  spillway whoami --dir /etc/spillway -o json\n");
  verb.run([asking] { return run_whoami(*asking); });
}

}  // namespace spillway::cli
