#include "cli/completion.h"

#include <functional>
#include <vector>

#include <fmt/format.h>

#include "base/shell_text.h"

namespace spillway::cli {
namespace {

// One place on the command line: the words that led there, and what may come next.
struct Stop {
  std::string path;  // "spillway broker authority"
  std::vector<Word> words;
  std::vector<Setting> options;
};

void walk(Word at, const std::string& path, std::vector<Stop>& stops) {
  Stop stop{path, at.words(), at.settings()};
  std::erase_if(stop.options, [](Setting setting) { return setting.is_argument(); });
  stops.push_back(stop);
  for (const Word word : stop.words) walk(word, path + " " + word.name(), stops);
}

std::vector<Stop> stops_of(Word root) {
  std::vector<Stop> stops;
  walk(root, "spillway", stops);
  return stops;
}

std::vector<std::string> spellings(Setting option) {
  std::vector<std::string> all;
  for (const std::string& name : option.long_names()) all.push_back("--" + name);
  for (const std::string& name : option.short_names()) all.push_back("-" + name);
  return all;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

std::vector<std::string> next_words(const Stop& stop) {
  std::vector<std::string> next;
  for (const Word word : stop.words) next.push_back(word.name());
  for (const Setting option : stop.options) {
    for (std::string& spelling : spellings(option)) next.push_back(std::move(spelling));
  }
  return next;
}

// Finds in `line` the place that the words so far lead to, and sets `next` to what may follow.
// Options and their values are skipped, for only known words lead further. For bash and zsh.
std::string cases(Word root) {
  std::string known;
  std::string choices;
  for (const Stop& stop : stops_of(root)) {
    if (stop.path != "spillway") known += (known.empty() ? "" : "|") + shell_quoted(stop.path);
    choices += fmt::format("    {}) next={} ;;\n", shell_quoted(stop.path),
                           shell_quoted(join(next_words(stop))));
  }
  return "  local at=spillway next i\n"
         "  for ((i = first; i < last; i++)); do\n"
         "    case \"$at ${line[i]}\" in\n      " +
         known +
         ") at=\"$at ${line[i]}\" ;;\n"
         "    esac\n"
         "  done\n"
         "  case \"$at\" in\n" +
         choices + "  esac\n";
}

}  // namespace

std::string bash_completion(Word root) {
  return "# spillway: bash completion.  source <(spillway completion bash)\n"
         "_spillway() {\n"
         "  local first=1 last=$COMP_CWORD\n"
         "  local -a line=(\"${COMP_WORDS[@]}\")\n" +
         cases(root) +
         "  COMPREPLY=($(compgen -W \"$next\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _spillway spillway\n";
}

std::string zsh_completion(Word root) {
  return "#compdef spillway\n"
         "# spillway: zsh completion.  source <(spillway completion zsh)\n"
         "_spillway() {\n"
         "  local first=2 last=$CURRENT\n"
         "  local -a line=(\"${words[@]}\")\n" +
         cases(root) +
         "  compadd -- ${=next}\n"
         "  [[ $compstate[nmatches] -gt 0 ]] || _files\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _spillway ]; then _spillway; else compdef _spillway spillway; "
         "fi\n";
}

std::string fish_completion(Word root) {
  std::string text =
      "# spillway: fish completion.  spillway completion fish | source\n"
      "function __spillway_at\n"
      "  set -l words (commandline -opc)\n"
      "  set -l path spillway\n"
      "  for word in $words[2..-1]\n"
      "    contains -- \"$path $word\" $__spillway_paths; and set path \"$path $word\"\n"
      "  end\n"
      "  test \"$path\" = \"$argv[1]\"\n"
      "end\n"
      "set -g __spillway_paths";
  const std::vector<Stop> stops = stops_of(root);
  for (const Stop& stop : stops) text += " " + shell_quoted(stop.path);
  text += "\n";
  for (const Stop& stop : stops) {
    const std::string when =
        fmt::format("complete -c spillway -n \"__spillway_at {}\"", shell_quoted(stop.path));
    for (const Word word : stop.words) {
      text += fmt::format("{} -f -a {} -d {}\n", when, word.name(), shell_quoted(word.summary()));
    }
    for (const Setting option : stop.options) {
      std::string names;
      for (const std::string& name : option.long_names()) names += " -l " + name;
      for (const std::string& name : option.short_names()) names += " -s " + name;
      text += fmt::format("{}{}{} -d {}\n", when, names, option.takes_value() ? " -r" : "",
                          shell_quoted(option.help()));
    }
  }
  return text;
}

}  // namespace spillway::cli
