// A verb that is followed by another word, as in `spillway token create`. The words are
// subcommands; the one that was given decides what runs.
#pragma once

#include <memory>
#include <string>

#include "cli/verbs.h"

namespace spillway::cli {

class Words {
 public:
  explicit Words(CLI::App& verb) : verb_(verb), chosen_(std::make_shared<Run>()) {}

  // Give the word its options, then say what runs.
  CLI::App& add(const std::string& name, const std::string& summary);
  void run(CLI::App& word, Run run);

  // What the verb itself does: without a word `otherwise`, or a word is required.
  Run choose(Run otherwise);
  Run choose();

 private:
  CLI::App& verb_;
  std::shared_ptr<Run> chosen_;
};

}  // namespace spillway::cli
