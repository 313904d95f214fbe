#include "cli/papers_word.h"

#include "cli/asking.h"
#include "cli/parse.h"
#include "services/agent/credentials.h"
#include "services/agent/folder_papers.h"

namespace spillway::cli {
namespace {

struct PapersArguments {
  Asking asking;
  bool prune = false;
  std::string older_than = "720h";
};

Status list_papers(const Asking& asking, const std::vector<agent::Paper>& papers) {
  const Clock clock = asking.clock();
  Table table({{"CONTRACT"},
               {"SIGNED"},
               {"BUYER"},
               {"PROVIDER"},
               {"EVENTS", Align::right},
               {"SINCE"},
               {"ENDED"}});
  std::string json;
  for (const agent::Paper& paper : papers) {
    table.add({paper.contract.text, paper.complete ? "by both" : "by the buyer", paper.buyer.text,
               paper.provider.text, fmt::format("{}", paper.events.size()), clock(paper.since),
               clock(paper.ended)});
    json += (json.empty() ? "" : ",") + to_json(paper);
  }
  return show(asking.form(), R"({"papers":[)" + json + "]}", table, "No papers.");
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

Status papers_of(const PapersArguments& arguments, Duration age) {
  const std::string dir = identity_dir(arguments.asking.dir);
  if (const auto member = agent::load_credentials(dir); !member) {
    return tl::unexpected(member.error());
  }
  agent::FolderPapers papers(dir);
  const auto all = papers.all();
  if (!all) return tl::unexpected(all.error());
  return arguments.prune ? prune_papers(papers, *all, age) : list_papers(arguments.asking, *all);
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
