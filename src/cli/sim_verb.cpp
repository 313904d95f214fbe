// spillway sim: many seeds in a row, or one of them again.
#include <chrono>
#include <cstdio>
#include <limits>

#include "cli/files.h"
#include "cli/sim_replay.h"
#include "cli/verbs.h"
#include "market/mutants.h"
#include "sim/simulation.h"

namespace spillway::cli {
namespace {

struct SimArguments {
  uint64_t seeds = 50;
  uint64_t first = 1;
  uint64_t seed = 0;  // 0: all of them
  std::string scenario;
  bool verbose = false;
  bool list_mutants = false;
  std::string mutant = "none";
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print_broken(const SimArguments& arguments, const sim::Report& report) {
  fmt::print("BROKEN seed {} at {}: {}\n", report.seed, to_text(report.broken_at), *report.broken);
  fmt::print("replay: {}\n", replay_line(report.seed, arguments.scenario, arguments.mutant));
}

void print_seed(const sim::Report& report) {
  fmt::print(
      "seed {}: {} events, {} checks, {} contracts, {} increases, {} nodes, {} signed "
      "copies, {} lies, {} outages, "
      "{} unsynced commits lost, {} kept, trace {}\n",
      report.seed, report.steps, report.checks, report.contracts, report.increases, report.nodes,
      report.agreements, report.lies, report.outages, report.lost_commits, report.kept_commits,
      to_hex(report.trace));
}

Result<sim::Scenario> read_scenario(const std::string& path) {
  if (path.empty()) return sim::Scenario{};
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return sim::scenario_from_yaml(*text, path);
}

int list_mutants() {
  for (const auto name : market::k_mutant_names) {
    if (name != market::k_mutant_names[0]) fmt::print("{}\n", name);
  }
  return 0;
}

int run_seeds(const SimArguments& arguments) {
  if (arguments.list_mutants) return list_mutants();
  if (!market::set_mutant(arguments.mutant)) {
    fmt::print(stderr,
               "spillway sim: there is no mutant '{}' in this build; build with preset mutants\n",
               arguments.mutant);
    return 2;
  }
  const auto read = read_scenario(arguments.scenario);
  if (!read) {
    fmt::print(stderr, "spillway sim: {}\n", read.error().message());
    return 2;
  }
  const sim::Scenario& scenario = *read;
  const uint64_t first = arguments.seed != 0 ? arguments.seed : arguments.first;
  const uint64_t count = arguments.seed != 0 ? 1 : arguments.seeds;
  if (count - 1 > std::numeric_limits<uint64_t>::max() - first) {
    fmt::print(stderr, "spillway sim: there are no {} seeds from {} on; lower --first or --seeds\n",
               count, first);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  uint64_t steps = 0;
  uint64_t checks = 0;
  uint64_t contracts = 0;
  for (uint64_t done = 0; done < count; ++done) {  // the last seed of all has no successor
    const sim::Report report = sim::simulate(first + done, scenario);
    if (arguments.verbose || arguments.seed != 0) print_seed(report);
    if (report.broken) {
      print_broken(arguments, report);
      return 1;
    }
    steps += report.steps;
    checks += report.checks;
    contracts += report.contracts;
  }
  const double seconds = seconds_since(start);
  fmt::print(
      "{} seeds of {} each: all laws held. {} events, {} contracts, {} checks in "
      "{:.1f} s ({:.0f} events/s)\n",
      count, to_text(scenario.length), steps, contracts, checks, seconds,
      static_cast<double>(steps) / seconds);
  return 0;
}

}  // namespace

void add_sim(Word verb) {
  auto arguments = std::make_shared<SimArguments>();
  verb.option("--seeds", arguments->seeds, "How many seeds to run, one after the other")
      .show_default()
      .in_range(1, 10'000'000);
  verb.option("--first", arguments->first, "The first of them").show_default().positive();
  verb.option("--seed", arguments->seed, "Run this seed alone, and tell more").positive();
  verb.option("--scenario", arguments->scenario,
              "A YAML file that says who takes part and what goes wrong (sim/scenarios/)");
  verb.flag("--verbose", arguments->verbose, "A line for every seed");
  verb.option("--mutant", arguments->mutant, "Plant a fault in the book (preset mutants only)")
      .show_default();
  verb.flag("--list-mutants", arguments->list_mutants, "Name the faults that can be planted");
  verb.examples(
      "  spillway sim --seeds 200\n"
      "  spillway sim --seed 7 --scenario sim/scenarios/rush.yaml\n");
  verb.run([arguments] { return run_seeds(*arguments); });
}

}  // namespace spillway::cli
