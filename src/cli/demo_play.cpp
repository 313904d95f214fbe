#include "cli/demo_play.h"

#include <thread>

#include "cli/demo_load.h"
#include "cli/demo_report.h"
#include "cli/demo_say.h"
#include "cli/safe_text.h"
#include "cli/waiting.h"
#include "cli/when.h"
#include "services/autoscaler/explain_door.h"

namespace spillway::cli {
namespace {

constexpr Duration k_market_is_seen = milliseconds(1500);
constexpr auto k_between_looks = std::chrono::milliseconds(200);
constexpr const char* k_cheapest = "cheapest";

std::string place_of(const model::Offer& offer) {
  return offer.place.city.empty() ? offer.place.country : offer.place.city;
}

std::string market_row(const OnSale& sold) {
  const model::Resources& shape = sold.offer.shape;
  return fmt::format("  {:<8}{:<9}{:>3} of {} cpu, {}Gi{:>10} USD/h{:>7} g/kWh\n",
                     safe(sold.seller), safe(place_of(sold.offer)), sold.units,
                     shape.cpu_millis / 1000, shape.memory_bytes >> 30, usd(sold.rate),
                     sold.offer.energy ? sold.offer.energy->carbon_now : 0);
}

}  // namespace

Play::Play(Stage& stage, PlayOptions options)
    : options_(std::move(options)), unaware_(stage, "unaware"), aware_(stage, "aware") {}

void Play::tell_banner() const {
  const std::string by =
      options_.profile.empty() ? "by price" : "by the policy " + options_.profile;
  say("Spillway demo: an hour of load in {} seconds, on two clusters at once\n"
      "  Pods come and go; what does not fit is bought: by one cluster by chance, by\n"
      "  the other {}. Each has a market of its own, of the same making.\n"
      "\n"
      "  real       {} processes: two brokers, ten agents, two gRPC servers (spillway\n"
      "             autoscaler), ten clusters; mutual TLS, the books on disk. Contracts\n"
      "             that both sides sign; the handshakes, grants and drains by which\n"
      "             agents make virtual nodes of them and end them\n"
      "  embedded   in the clusters: the Kubernetes API, its scheduler, and Liqo. Nodes\n"
      "             and virtual kubelets are played: guests are placed at their sellers,\n"
      "             and no container runs. With the real Liqo: make e2e\n"
      "  modelled   the Cluster Autoscaler 1.30, by its rules and default flags; its\n"
      "             clock runs {} times as fast. The real one, unmodified: make e2e\n"
      "  money      the books' contracts at their rates, for the time on the fast\n"
      "             clock: a second that passes here is paid for as {} seconds\n",
      k_load_counted.ms / 1000 / options_.speed, by, 2 * k_processes, options_.speed,
      options_.speed);
}

Status Play::gather() {
  const Moment begun = clock_now();
  SPILLWAY_TRY(unaware_.set_up({}));
  SPILLWAY_TRY(aware_.set_up(options_.profile.empty() ? k_cheapest : options_.profile));
  say("\n  Everything is up after {:.1f} s. On sale, in each of the two markets:\n\n",
      ms_between(begun, clock_now()) / 1e3);
  return {};
}

void Play::tell_market() const {
  const Look look = look_of_environment();
  for (const OnSale& sold : aware_.on_sale()) say("{}", market_row(sold));
  say("\n  pr1 and pr2 are Table 1 of the Mid4CC 2025 paper, 1 and 5 USD a minute; green\n"
      "  and far are ours. A pod wants {} cpu; {} pods have room at home. A unit is shown\n"
      "  as {} while its virtual node is made or drained, as {} while that is Ready.\n",
      replica_requests().cpu_millis / 1000, k_own_cpus * 1000 / replica_requests().cpu_millis,
      look.blocks ? "▒▒" : "oo", look.blocks ? "██" : "##");
}

Status Play::open_runs() {
  auto unaware = DemoRun::open(unaware_, scaler::Expander::random);
  if (!unaware) return tl::unexpected(unaware.error());
  unaware_run_ = std::move(*unaware);
  auto aware = DemoRun::open(
      aware_, options_.profile.empty() ? scaler::Expander::price : scaler::Expander::grpc);
  if (!aware) return tl::unexpected(aware.error());
  aware_run_ = std::move(*aware);
  return {};
}

Result<Seen> Play::look(Instant until) {
  Seen seen{time_.since_begun(until), aware_.on_sale(), {}};
  const bool by_price = options_.profile.empty();
  seen.runs[0].name = "cost-unaware";
  seen.runs[0].expander = "random";
  seen.runs[1].name = by_price ? "cost-aware" : options_.profile;
  seen.runs[1].expander = by_price ? "price" : "grpc";
  for (size_t i = 0; i < seen.runs.size(); ++i) {
    DemoFederation& federation = i == 0 ? unaware_ : aware_;
    SPILLWAY_TRY(federation.check_runs());
    seen.runs[i].view = (i == 0 ? unaware_run_ : aware_run_)->look();
    SPILLWAY_TRY(seen.runs[i].view.problem);
    const auto contracts = federation.contracts();
    if (!contracts) return tl::unexpected(contracts.error());
    seen.runs[i].spend = spend_of(*contracts, federation.on_sale(), time_, until);
    for (const model::Contract& contract : *contracts) {
      if (contract.started) seen.runs[i].begun[contract.id] = *contract.started;
    }
  }
  return seen;
}

// Soon after the first decision: what the server thinks of it changes with the market, but it has
// to see first what is left.
void Play::note_reasons() {
  if (!reasons_.empty()) return;
  const Duration seen_by_then{k_market_is_seen.ms * options_.speed};
  for (const Noted& noted : last_.runs[1].view.decided) {
    if (noted.deed != Deed::bought || last_.at - noted.at < seen_by_then) continue;
    auto options = read_grpc_target(aware_.autoscaler());
    if (!options) return;
    StraightCalls calls(std::move(*options));
    const net::GrpcAnswer answer = calls.call(std::string(autoscaler::k_explain_call),
                                              autoscaler::explain_message(noted.group));
    if (answer.code != net::GrpcCode::ok) return;
    reasons_ = autoscaler::text_of_explain_message(answer.message);
    return;
  }
}

Status Play::watch() {
  Screen screen;
  time_ = {now(), options_.speed};
  unaware_run_->begin(time_);
  aware_run_->begin(time_);
  const Instant end = time_.begun + time_.real(k_load_counted);
  while (last_.at < k_load_counted && std::ferror(stdout) == 0) {
    auto seen = look(std::min(now(), end));
    if (!seen) return tl::unexpected(seen.error());
    last_ = std::move(*seen);
    screen.show(last_);
    note_reasons();
    if (last_.at < k_load_counted) std::this_thread::sleep_for(k_between_looks);
  }
  screen.close();
  return {};
}

void Play::tell_results() const {
  const int32_t home = static_cast<int32_t>(k_own_cpus * 1000 / replica_requests().cpu_millis);
  const int32_t away = k_most_replicas - home;
  say_chapter("What the hour came to");
  say("{}",
      result_table(last_, always_on(aware_.on_sale(), away, replica_requests(), k_load_counted)));
  say("  always on: room for all {} pods from the first minute, where it is cheapest\n"
      "  bought to Ready: half a second of it is a played virtual kubelet's start\n",
      away);
  for (const RunSeen& run : last_.runs) {
    say_chapter("What was bought, as virtual nodes: " + run.title());
    say("{}", units_text(run, time_));
  }
  for (const RunSeen& run : last_.runs) {
    say_chapter("What was decided when, and why: " + run.title());
    say("{}", decisions_text(run));
  }
  if (reasons_.empty()) return;
  say_chapter("The first of these in the server's own words: spillway explain");
  say("{}", explanation_text(reasons_, look_of_environment()));
}

Status Play::play() {
  if (std::ferror(stdout) != 0) return {};  // nobody reads it; main() says so
  SPILLWAY_TRY(gather());
  tell_market();
  SPILLWAY_TRY(open_runs());
  SPILLWAY_TRY(watch());
  if (std::ferror(stdout) == 0) tell_results();
  return {};
}

}  // namespace spillway::cli
