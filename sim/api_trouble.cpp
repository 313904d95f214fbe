#include "sim/api_trouble.h"

#include <algorithm>
#include <array>

namespace spillway::sim {

ApiTrouble::ApiTrouble(World& world, Network& network, SimCluster& cluster, Address agent_at,
                       TroubleOptions options)
    : world_(world), network_(network), cluster_(cluster), agent_at_(agent_at), options_(options) {}

void ApiTrouble::lasts(Duration time) { until_ = std::max(until_, world_.now() + time); }

void ApiTrouble::end() {
  cluster_.live().faults().clear();
  cluster_.live().set_clock_skew({});
  cluster_.set_expired(false);
}

void ApiTrouble::cause() {
  const auto dice = world_.below(100);
  world_.note("cluster fault", static_cast<int64_t>(dice));
  if (dice < 30) return fail_requests();
  if (dice < 55) return fail_streams();
  if (dice < 65) return cluster_.live().forget_history();
  if (dice < 72) {
    const Duration most = options_.most_skew;
    return cluster_.live().set_clock_skew(world_.between({-most.ms}, most));
  }
  if (dice < 82) return restart();
  if (dice < 90) {
    cluster_.set_expired(true);
    const Duration time = world_.between(seconds(5), minutes(4));
    lasts(time);
    cluster_.process().after(time, [this] { cluster_.set_expired(false); });
    return;
  }
  network_.cut(cluster_.address(), agent_at_);
  const Duration longest = world_.chance(100) ? hours(1) : minutes(3);
  const Duration time = world_.between(seconds(5), longest);
  lasts(time);
  world_.after(time, [this] { network_.mend(cluster_.address(), agent_at_); });
}

void ApiTrouble::clear_after(Duration time) {
  lasts(time);
  cluster_.process().after(time, [this] { cluster_.live().faults().clear(); });
}

// Of lists and of the openings of streams, for a while.
void ApiTrouble::fail_requests() {
  constexpr std::array k_codes{409, 410, 429, 500, 503, 504};
  embedded::Fault fault;
  fault.per_mille = static_cast<uint32_t>(200 + world_.below(801));
  switch (world_.below(6)) {
    case 0:
      fault.delay = world_.between(milliseconds(200), seconds(12));
      break;
    case 1:
      fault.loses_answer = true;
      break;
    case 2:
      fault.cuts = true;
      break;
    case 3:
      fault.garbles = true;
      break;
    default:
      fault.code = k_codes[world_.below(k_codes.size())];
      fault.retry_after_seconds = static_cast<int>(world_.below(3));
  }
  cluster_.live().faults().add(fault);
  clear_after(world_.between(seconds(2), minutes(2)));
}

void ApiTrouble::fail_streams() {
  embedded::Fault fault;
  fault.verb = world_.chance(800) ? "watch" : "";
  const auto events = static_cast<int64_t>(1 + world_.below(4));
  switch (world_.below(options_.has_slow_bytes ? 4 : 3)) {
    case 0:
      fault.cut_after_events = events;
      break;
    case 1:
      fault.garbage_after_events = events;
      break;
    case 2:
      fault.cut_after = world_.between(milliseconds(100), seconds(20));
      break;
    default:
      fault.drop_bytes = 400;
      fault.drop_every = milliseconds(300);
  }
  cluster_.live().faults().add(fault);
  clear_after(world_.between(seconds(10), minutes(3)));
}

// Half of them as if from a backup: versions that were given are given again. That takes longer
// than any message is on its way.
void ApiTrouble::restart() {
  const bool is_backup = !world_.chance(500);
  const auto lost = is_backup ? static_cast<int64_t>(world_.below(80)) : 0;
  const Duration down =
      is_backup ? world_.between(seconds(15), seconds(60)) : world_.between({100}, seconds(60));
  lasts(down);
  cluster_.restart(down, lost);
}

}  // namespace spillway::sim
