// The verbs of `spillway`, one file each. A verb adds its options to the command line and leaves a
// function that runs it and answers with the exit code: 0 good, 1 not, 2 wrongly called.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace spillway::cli {

using Run = std::function<int()>;

Run add_demo(CLI::App& verb);
Run add_sim(CLI::App& verb);
Run add_validate(CLI::App& verb);

}  // namespace spillway::cli
