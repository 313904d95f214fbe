// The command line as a tree of words: `spillway`, then a verb, for some verbs another word, each
// with settings of its own. The innermost word that was given decides what runs.
//
// CLI11 reads the line and writes the help. It stays behind these classes, for every file that
// includes it takes three times as long to compile.
//
// Word and Setting are handles: copies mean the same thing, the Program owns it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
class Option;
}  // namespace CLI

namespace spillway::cli {

// Runs what the line asks for and answers with the exit code: 0 good, 1 not, 2 wrongly called, 3
// the broker cannot be reached.
using Run = std::function<int()>;

// An option, a flag, or an argument that is known by its place.
class Setting {
 public:
  explicit Setting(CLI::Option& option) : option_(&option) {}

  Setting type_name(const std::string& name) const;  // of the value, in the help
  Setting group(const std::string& title) const;     // of the help
  Setting show_default() const;                      // the value that the variable has now
  Setting required() const;
  Setting may_repeat() const;  // one value each time
  Setting in_range(int least, int most) const;
  Setting positive() const;
  Setting not_negative() const;
  Setting one_of(const std::vector<std::string>& values) const;
  Setting excludes(Setting other) const;

  const std::vector<std::string>& long_names() const;   // without dashes
  const std::vector<std::string>& short_names() const;  // without the dash
  const std::string& help() const;
  bool is_argument() const;  // known by its place
  bool takes_value() const;

 private:
  CLI::Option* option_;
};

class Word {
 public:
  Word(CLI::App& app, Run& chosen) : app_(&app), chosen_(&chosen) {}

  // `names` as in "-o,--output"; without dashes it is an argument. Reading the line writes into
  // `into`. For the types that word.cpp lists.
  template <class T>
  Setting option(const std::string& names, T& into, const std::string& help) const;
  Setting flag(const std::string& names, bool& into, const std::string& help) const;

  // A word that may follow this one. It begins with the examples that this one has so far.
  Word add(const std::string& name, const std::string& summary) const;
  void require_word() const;
  // What this word does, unless one that follows it has something else to do.
  void run(Run run) const;

  void examples(std::string_view lines) const;  // the end of its help
  void group(const std::string& title) const;   // where its parent's help lists it

  std::string name() const;
  std::string summary() const;
  std::string help() const;
  Word parent() const;  // of the first there is none
  std::vector<Word> words() const;
  std::vector<Setting> settings() const;

 private:
  CLI::App* app_;
  Run* chosen_;
};

// The first word of the line, and the owner of all that follow.
class Program {
 public:
  explicit Program(const std::string& summary);
  ~Program();

  Word word();
  void version(const std::string& text);

  // What the line leads to. Help that was asked for, and what is wrong with the line, is told by
  // running it, too. The program must outlive it.
  Run read(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
  Run chosen_;
};

}  // namespace spillway::cli
