// spillway demo: the market of the Mid4CC 2025 paper's Table 1, and one buyer whose need rises and
// falls. Every choice comes from the shipping ranking and every price from the shipping book; this
// file only knows what is needed when, and how to tell it.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/demo_market.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

const ClusterId k_buyer("edge");

struct PodKind {
  const char* name;
  int64_t cores;
  int64_t memory_gb;
};
constexpr PodKind k_web{"web", 2, 4};
constexpr PodKind k_batch{"batch", 4, 4};

struct Phase {
  int minute;
  int web;
  int batch;
  const char* story;
};
constexpr std::array k_phases{
    Phase{0, 1, 0, "The edge cluster is full; one web pod is pending."},
    Phase{5, 3, 0, "Traffic rises: three web pods do not fit at home."},
    Phase{10, 3, 1, "A batch pod arrives that wants 4 cores in one piece."},
    Phase{15, 4, 1, "A fourth web pod. Everything on sale is taken."},
    Phase{20, 4, 0, "The batch pod is done."},
    Phase{30, 2, 0, "Traffic ebbs: two web pods remain."},
    Phase{40, 0, 0, "Night. The edge cluster can do the rest itself."},
};

struct Held {
  ContractId contract;
  OfferId offer;
  const PodKind* pod;
  int64_t rate;
};

std::string per_minute(int64_t hourly_micros) {
  return fmt::format("{:.2f} USD/min", static_cast<double>(hourly_micros) / 60e6);
}

model::Resources shape_of(int64_t cores, int64_t memory_gb) {
  model::Resources shape;
  shape.cpu_millis = cores * 1000;
  shape.memory_bytes = memory_gb * 1'000'000'000;
  return shape;
}

class Demo {
 public:
  explicit Demo(DemoMarket& market) : market_(market) {}
  Status play();

 private:
  Status open_market();
  Status sell(const std::string& provider, const std::string& name, int units, int64_t cores,
              int64_t dollars_per_minute);
  Status enter(const Phase& phase);
  Status adjust(const PodKind& pod, int wanted);
  Result<bool> take_one(const PodKind& pod);
  Status give_back_one(const PodKind& pod);
  void tell_choice(const rank::Ranking& ranking, const PodKind& pod);
  void tell_holdings();
  Status tell_bill();
  int count(const PodKind& pod) const;

  DemoMarket& market_;
  std::vector<Held> held_;
  std::vector<Held> ended_;
};

Status Demo::sell(const std::string& provider, const std::string& name, int units, int64_t cores,
                  int64_t dollars_per_minute) {
  model::Cluster cluster;
  cluster.id = ClusterId(provider);
  if (auto put = market_.ask(market::PutCluster{cluster}); !put) return tl::unexpected(put.error());
  model::Pool pool;
  pool.id = PoolId(provider + "/nodes");
  pool.node = shape_of(cores, 4);
  pool.capacity = pool.node.times(units);
  if (auto told = market_.ask(market::PublishPool{cluster.id, pool, 1, hours(1), {}}); !told) {
    return tl::unexpected(told.error());
  }
  model::Offer offer;
  offer.id = OfferId(provider + "/" + name);
  offer.pool = pool.id;
  offer.shape = pool.node;
  offer.price.currency = Currency{{'U', 'S', 'D'}};
  offer.price.unit_hour = dollars_per_minute * 60 * 1'000'000;
  offer.visibility.everyone = true;
  if (auto told = market_.ask(market::PublishOffer{cluster.id, offer, 1}); !told) {
    return tl::unexpected(told.error());
  }
  fmt::print("  {:<10}{:<12}{:>5}   {:<18}{:>14}\n", provider, offer.id.text, units,
             fmt::format("{} cores, 4 GB", cores), per_minute(offer.price.unit_hour));
  return {};
}

Status Demo::open_market() {
  fmt::print("\nOn sale (Table 1 of the paper)\n  {:<10}{:<12}{:>5}   {:<18}{:>14}\n", "provider",
             "offer", "units", "a unit", "price");
  SPILLWAY_TRY(sell("pr1", "small", 3, 2, 1));
  SPILLWAY_TRY(sell("pr2", "large", 1, 4, 5));
  model::Cluster buyer;
  buyer.id = k_buyer;
  buyer.budget = model::Budget{Money{2'000'000'000, Currency{{'U', 'S', 'D'}}}, market_.now()};
  if (auto put = market_.ask(market::PutCluster{buyer}); !put) return tl::unexpected(put.error());
  market_.pass(seconds(2));  // the catalogue follows the log once a second
  fmt::print("  The buyer is '{}', with a budget of 2000 USD.\n", k_buyer.text);
  return {};
}

int Demo::count(const PodKind& pod) const {
  return static_cast<int>(std::count_if(held_.begin(), held_.end(),
                                        [&](const Held& held) { return held.pod == &pod; }));
}

void Demo::tell_choice(const rank::Ranking& ranking, const PodKind& pod) {
  fmt::print("  {} pod ({} cores, {} GB):", pod.name, pod.cores, pod.memory_gb);
  if (ranking.candidates.empty()) {
    fmt::print(" waits. {}\n", ranking.why);
  } else {
    const rank::Candidate& best = ranking.candidates.front();
    fmt::print(" takes {} at {}", best.offer.text, per_minute(best.rate));
    fmt::print("{}\n", ranking.candidates.size() > 1
                           ? fmt::format(", the cheapest of {}", ranking.candidates.size())
                           : ", the only one that serves");
  }
  for (const rank::Verdict& verdict : ranking.verdicts) {
    const bool best =
        !ranking.candidates.empty() && verdict.offer == ranking.candidates.front().offer;
    if (best) continue;
    fmt::print("      not {:<12}{}\n", verdict.offer.text,
               verdict.ruled_out_by ? verdict.sentence
                                    : fmt::format("{} is dearer", per_minute(verdict.score)));
  }
}

Result<bool> Demo::take_one(const PodKind& pod) {
  model::Intent intent;
  intent.shape = shape_of(pod.cores, pod.memory_gb);
  intent.currency = Currency{{'U', 'S', 'D'}};
  const auto ranking = market_.query(k_buyer, intent);
  if (!ranking) return tl::unexpected(ranking.error());
  tell_choice(*ranking, pod);
  if (ranking->candidates.empty()) return false;

  market::Hold hold;
  hold.buyer = k_buyer;
  hold.key = fmt::format("demo-{}", held_.size() + ended_.size());
  hold.lines = {{ranking->candidates.front().offer, 1, 1}};
  hold.ttl = minutes(1);
  const auto granted = market_.ask(hold);
  if (!granted) return tl::unexpected(granted.error());
  const market::Grant& grant = granted->grants.front();
  const auto active = market_.ask(market::Confirm{k_buyer, grant.contract});
  if (!active) return tl::unexpected(active.error());
  held_.push_back({grant.contract, grant.offer, &pod, grant.rate});
  return true;
}

Status Demo::give_back_one(const PodKind& pod) {
  auto dearest = held_.end();
  for (auto it = held_.begin(); it != held_.end(); ++it) {
    if (it->pod == &pod && (dearest == held_.end() || it->rate > dearest->rate)) dearest = it;
  }
  const auto released = market_.ask(market::Release{k_buyer, dearest->contract, {}});
  if (!released) return tl::unexpected(released.error());
  fmt::print("  {} pod gone: gives {} back, the dearest that served one\n", pod.name,
             dearest->offer.text);
  ended_.push_back(*dearest);
  held_.erase(dearest);
  return {};
}

Status Demo::adjust(const PodKind& pod, int wanted) {
  while (count(pod) > wanted) SPILLWAY_TRY(give_back_one(pod));
  while (count(pod) < wanted) {
    const auto taken = take_one(pod);
    if (!taken) return tl::unexpected(taken.error());
    if (!*taken) break;  // it waits, as a pending pod does
  }
  return {};
}

void Demo::tell_holdings() {
  int64_t rate = 0;
  std::map<std::string, int> by_offer;
  for (const Held& held : held_) {
    rate += held.rate;
    ++by_offer[held.offer.text];
  }
  std::string list;
  for (const auto& [offer, units] : by_offer) {
    list += fmt::format("{}{} × {}", list.empty() ? "" : ", ", units, offer);
  }
  fmt::print("  → holds {}, {}\n", list.empty() ? "nothing" : list, per_minute(rate));
}

Status Demo::enter(const Phase& phase) {
  fmt::print("\nMinute {}. {}\n", phase.minute, phase.story);
  // What is given back first can be taken by the next.
  const bool batch_first = count(k_batch) > phase.batch;
  if (batch_first) SPILLWAY_TRY(adjust(k_batch, phase.batch));
  SPILLWAY_TRY(adjust(k_web, phase.web));
  if (!batch_first) SPILLWAY_TRY(adjust(k_batch, phase.batch));
  tell_holdings();
  return {};
}

Status Demo::tell_bill() {
  fmt::print("\nThe bill, as the book settled it\n  {:<12}{:<8}{:>10}{:>14}\n", "offer", "pod",
             "minutes", "USD");
  int64_t total = 0;
  for (const Held& held : ended_) {
    const auto seen = market_.ask(market::Look{k_buyer, held.contract});
    if (!seen) return tl::unexpected(seen.error());
    const model::Contract& contract = *seen->contract;
    const model::Unit& unit = contract.units.front();
    total += unit.charged;
    fmt::print("  {:<12}{:<8}{:>10.1f}{:>14}\n", held.offer.text, held.pod->name,
               static_cast<double>((*unit.ended - *contract.started).ms) / 60e3,
               micros_to_text(unit.charged));
  }
  fmt::print("  {:<30}{:>14}\n", "in all", micros_to_text(total));
  return {};
}

Status Demo::play() {
  SPILLWAY_TRY(open_market());
  const Instant start = market_.now();
  for (const Phase& phase : k_phases) {
    const Instant at = start + minutes(phase.minute);
    if (at > market_.now()) market_.pass(at - market_.now());
    SPILLWAY_TRY(enter(phase));
  }
  return tell_bill();
}

// Goes away with all that is in it, also when the story breaks off.
class ScratchFolder {
 public:
  static Result<std::unique_ptr<ScratchFolder>> make() {
    std::error_code error;
    std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error) return refuse(error.message());
    std::string name = (folder / "spillway-demo.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return refuse(std::strerror(errno));
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(name));
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  static tl::unexpected<Error> refuse(const std::string& reason) {
    return fail(Code::unavailable, "temporary folder", fmt::format("none can be made: {}", reason),
                "set TMPDIR to a folder that is there and writable, or name a file with --keep");
  }

  std::filesystem::path path_;
};

Status play_in(const std::filesystem::path& file) {
  fmt::print(
      "Spillway demo: one buyer, two providers, 40 minutes in a few seconds\n"
      "  real       the book, its SQLite file, the ranking, the money\n"
      "  simulated  the clock and the clusters: no Kubernetes takes part yet\n");
  auto market = DemoMarket::open(file);
  if (!market) return tl::unexpected(market.error());
  return Demo(**market).play();
}

Status play_and_forget() {
  const auto folder = ScratchFolder::make();
  if (!folder) return tl::unexpected(folder.error());
  return play_in((*folder)->path() / "market.db");
}

// The story begins with an empty market, and what somebody has in a file is not ours to change.
Status check_is_new(const std::string& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) return {};
  if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(file, error) == 0) {
    return {};
  }
  return fail(Code::conflict, file, "it exists already and is not empty",
              "name a new file, or move this one away");
}

Status play_and_keep(const std::string& file) {
  SPILLWAY_TRY(check_is_new(file));
  SPILLWAY_TRY(play_in(file));
  fmt::print("\nThe market is in {}; look at it with sqlite3.\n", file);
  return {};
}

int run_demo(const std::string& keep) {
  const Status played = keep.empty() ? play_and_forget() : play_and_keep(keep);
  if (played) return 0;
  fmt::print(stderr, "spillway demo: {}\n", played.error().message());
  return 1;
}

}  // namespace

Run add_demo(CLI::App& verb) {
  auto keep = std::make_shared<std::string>();
  verb.add_option("--keep", *keep, "Keep the market in this SQLite file, which must be a new one");
  add_examples(verb,
               "  spillway demo\n"
               "  spillway demo --keep market.db\n");
  return [keep] { return run_demo(*keep); };
}

}  // namespace spillway::cli
