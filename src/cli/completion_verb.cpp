// spillway completion: a script for the shell of one's choice.
#include <fmt/format.h>

#include "cli/completion.h"
#include "cli/outcome.h"
#include "cli/verbs.h"

namespace spillway::cli {

void add_completion(Word verb) {
  auto shell = std::make_shared<std::string>();
  verb.option("shell", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  verb.examples(
      "  source <(spillway completion bash)\n"
      "  spillway completion zsh > ~/.zsh/completions/_spillway\n"
      "  spillway completion fish > ~/.config/fish/completions/spillway.fish\n");
  const Word root = verb.parent();
  verb.run([shell, root] {
    fmt::print("{}", *shell == "bash"  ? bash_completion(root)
                     : *shell == "zsh" ? zsh_completion(root)
                                       : fish_completion(root));
    return k_ok;
  });
}

}  // namespace spillway::cli
