#include "cli/words.h"

#include <CLI/CLI.hpp>

namespace spillway::cli {

void add_examples(CLI::App& verb, std::string_view examples) {
  verb.footer("Examples:\n" + std::string(examples));
}

CLI::App& Words::add(const std::string& name, const std::string& summary) {
  return *verb_.add_subcommand(name, summary);
}

// Callbacks of inner words run before those of outer ones, so that the innermost is known when the
// verb's own is called.
void Words::run(CLI::App& word, Run run) {
  word.callback([chosen = chosen_, run = std::move(run)] { *chosen = run; });
}

Run Words::choose(Run otherwise) {
  return [chosen = chosen_, otherwise = std::move(otherwise)] {
    return *chosen ? (*chosen)() : otherwise();
  };
}

Run Words::choose() {
  verb_.require_subcommand(1);
  return choose(Run{});
}

}  // namespace spillway::cli
