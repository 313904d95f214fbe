// spillway completion: a script for the shell of one's choice.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/completion.h"
#include "cli/outcome.h"
#include "cli/verbs.h"

namespace spillway::cli {

Run add_completion(CLI::App& verb) {
  auto shell = std::make_shared<std::string>();
  verb.add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  add_examples(verb,
               "  source <(spillway completion bash)\n"
               "  spillway completion zsh > ~/.zsh/completions/_spillway\n"
               "  spillway completion fish > ~/.config/fish/completions/spillway.fish\n");
  const CLI::App* root = verb.get_parent();
  return [shell, root] {
    fmt::print("{}", *shell == "bash"  ? bash_completion(*root)
                     : *shell == "zsh" ? zsh_completion(*root)
                                       : fish_completion(*root));
    return k_ok;
  };
}

}  // namespace spillway::cli
