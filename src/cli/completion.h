// Completion scripts, from the command line itself: a verb or an option that exists is completed.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace spillway::cli {

std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);
std::string fish_completion(const CLI::App& root);

}  // namespace spillway::cli
