// Death of a provider, as its buyer sees it, and what becomes of its nodes then.
//
// Dead is who gives two signs for a while: it does not answer our own probe, which is the renewal
// of our Lease there (fabric/fence.h), and Liqo says that its API server is in error. Its nodes get
// our taint: work without identity is begun elsewhere at once. Work with identity tolerates the
// taint, by a toleration that it is given first, and goes when the provider must have stopped it:
// the fence time, counted from the last renewal that may have arrived, the time that the pod has to
// end, and what two clocks may differ. Then the unit itself goes, without the provider's word.
// A provider that answers before is alive as if nothing had been.
//
// Until a unit goes it has the taint by which the Cluster Autoscaler knows nodes that are being
// deleted: it counts no such node as unready, and stops for nothing that is dead for long.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/node.h"

namespace spillway::fabric {

enum class Life { unknown, alive, doubted, dead };
std::string_view to_text(Life life);

// All by our clock.
struct Signs {
  bool is_answered = false;            // a probe, ever, in this life of ours
  std::optional<Instant> silent = {};  // since when; none: the last probe was answered
  std::optional<Instant> error = {};   // since when Liqo says so; none: it does not
  bool operator==(const Signs&) const = default;
};

// `was_dead`: who was dead is so until it answers.
Life judge(const Signs& signs, bool was_dead, Duration doubt, Instant now);
// When that may change by itself.
std::optional<Instant> judged_again(const Signs& signs, Duration doubt);

struct ProviderLife {
  Life life = Life::alive;
  Instant unheard = {};           // no renewal of ours can have arrived after that
  Duration fence = minutes(5);    // of units that no contract names any more
  Duration margin = seconds(30);  // what clocks may differ, there and back
  bool is_given_up = false;       // it is written down that work begins elsewhere
};

// On Nodes. With NoSchedule first: nothing comes that has not been looked at.
inline constexpr std::string_view k_dead_taint = "spillway.dev/provider-dead";
inline constexpr std::string_view k_deleted_taint = "ToBeDeletedByClusterAutoscaler";

using Entries = std::vector<model::Node>;  // of a list, as the API server has them
// The taints that the node is to have; none: it has them.
enum class Mourning { none, closed, evicting };  // ours to remove; nothing new; nothing at all
std::optional<Entries> taints_for(const Entries& seen, Mourning mourning, Instant now);
// Whether the node is in that state or a later one.
bool is_closed(const Entries& seen);

// The tolerations that a pod with identity is to have; none: it has them. Also for as long as the
// node is not ready: else Kubernetes would take it away by its own time.
std::optional<Entries> tolerations_for(const Entries& seen);

}  // namespace spillway::fabric
