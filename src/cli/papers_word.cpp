#include "cli/papers_word.h"

#include "cli/asking.h"
#include "cli/parse.h"
#include "model/json.h"
#include "services/agent/credentials.h"
#include "services/agent/folder_papers.h"

namespace spillway::cli {
namespace {

struct PapersArguments {
  Asking asking;
  bool prune = false;
  std::string older_than = "720h";
};

using AllPapers = agent::FolderPapers::All;

std::string papers_json(const AllPapers& all) {
  std::string json = R"({"papers":[)";
  for (size_t i = 0; i < all.papers.size(); ++i) {
    json += (i == 0 ? "" : ",") + to_json(all.papers[i]);
  }
  json += R"(],"damaged":[)";
  for (size_t i = 0; i < all.damaged.size(); ++i) {
    json += i == 0 ? R"({"paper":)" : R"(,{"paper":)";
    model::append_json_string(json, all.damaged[i].thing);
    json += R"(,"why":)";
    model::append_json_string(json, all.damaged[i].reason);
    json += '}';
  }
  return json + "]}";
}

Status list_papers(const Asking& asking, const AllPapers& all) {
  const Clock clock = asking.clock();
  Table table({{"CONTRACT"},
               {"SIGNED"},
               {"BUYER"},
               {"PROVIDER"},
               {"EVENTS", Align::right},
               {"SINCE"},
               {"ENDED"}});
  for (const agent::Paper& paper : all.papers) {
    table.add({paper.contract.text, paper.complete ? "by both" : "by the buyer", paper.buyer.text,
               paper.provider.text, fmt::format("{}", paper.events.size()), clock(paper.since),
               clock(paper.ended)});
  }
  return show(asking.form(), papers_json(all), table,
              all.damaged.empty() ? "No papers." : "No papers that are whole.");
}

// Only of what has ended: the others are what the agent acts by.
Status prune_papers(agent::FolderPapers& papers, const std::vector<agent::Paper>& all,
                    Duration age) {
  size_t removed = 0;
  for (const agent::Paper& paper : all) {
    if (!paper.ended || *paper.ended + age > now()) continue;
    SPILLWAY_TRY(papers.remove(paper.contract));
    removed += 1;
  }
  fmt::print("{} of {} papers removed.\n", removed, all.size());
  return {};
}

// The others are shown, or removed, all the same.
Status name_damaged(const std::vector<Error>& damaged) {
  if (damaged.empty()) return {};
  for (size_t i = 0; i + 1 < damaged.size(); ++i) tell("contracts papers", damaged[i]);
  return tl::unexpected(damaged.back());
}

Status papers_of(const PapersArguments& arguments, Duration age) {
  const std::string dir = identity_dir(arguments.asking.dir);
  if (const auto member = agent::load_credentials(dir); !member) {
    return tl::unexpected(member.error());
  }
  agent::FolderPapers papers(dir);
  const auto all = papers.all();
  if (!all) return tl::unexpected(all.error());
  SPILLWAY_TRY(arguments.prune ? prune_papers(papers, all->papers, age)
                               : list_papers(arguments.asking, *all));
  return name_damaged(all->damaged);
}

int run_papers(const PapersArguments& arguments) {
  const auto age = parse_duration(arguments.older_than);
  if (!age) return wrongly_called("contracts papers", of_option("--older-than", age.error()));
  const Status status = papers_of(arguments, *age);
  return status ? k_ok : failed("contracts papers", status.error());
}

}  // namespace

void add_papers(Word contracts) {
  auto arguments = std::make_shared<PapersArguments>();
  const Word word =
      contracts.add("papers", "Our own copies of what was signed, also of what has ended");
  word.flag("--prune", arguments->prune, "Remove those of contracts that ended long ago");
  word.option("--older-than", arguments->older_than, "With --prune: ended so long ago")
      .type_name("TIME")
      .show_default();
  add_dir(word, arguments->asking.dir);
  add_output(word, arguments->asking.output);
  word.examples(
      "  spillway contracts papers\n"
      "  spillway contracts papers --prune --older-than 8760h\n");
  word.run([arguments] { return run_papers(*arguments); });
}

}  // namespace spillway::cli
