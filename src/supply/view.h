// View: the cluster as supply knows it. Rows come and go in any order (a pod before its node, a
// node without its pods, the same twice); what is known afterwards depends on the last row of each
// key alone. An event costs O(log n), for what the owner's pods take is summed by node as they
// come.
//
// Kept of a bound own pod are its name, its requests and its node: some 200 bytes. Of guests' pods
// and of those that have ended nothing is kept. Waiting pods of a kind share one placement, which
// may be long: a thousand replicas cost little more than one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/time.h"
#include "supply/node_row.h"
#include "supply/pod_row.h"
#include "supply/tally.h"

namespace spillway::supply {

class View {
 public:
  struct Place {
    std::optional<NodeRow> row;  // none: pods name a node that is not there (any more, or yet)
    Tally own;                   // what the owner's pods on it request
    std::map<std::string, std::string, std::less<>> unreadable;  // own pods on it: what is wrong
    // When it was first seen ill, by our own clock: a cluster's may be hours away.
    std::optional<Instant> ill_since;
    bool operator==(const Place&) const = default;
  };
  struct Waiting {
    Requests requests;
    std::shared_ptr<const Placement> placement;
    Fingerprint kind;  // of both: replicas of one thing have the same
    bool gated = false;
  };
  template <class T>
  using ByName = std::map<std::string, T, std::less<>>;

  View() = default;
  View(View&&) = default;  // no copies: rows of pods point at those of nodes
  View& operator=(View&&) = default;

  void put(NodeRow row, Instant now = {});
  void put(PodRow row);
  void remove_node(std::string_view name);
  void remove_pod(std::string_view key);
  // A list in full: what is not in it is gone. Says that the list is known, too.
  void replace_nodes(std::vector<NodeRow> rows, Instant now = {});
  void replace_pods(std::vector<PodRow> rows);

  // Before both lists are known in full a cluster looks emptier than it is.
  void set_nodes_known() { nodes_known_ = true; }
  void set_pods_known() { pods_known_ = true; }
  bool is_known() const { return nodes_known_ && pods_known_; }

  const ByName<Place>& places() const { return places_; }
  const ByName<Waiting>& waiting() const { return waiting_; }  // own, without a node
  // Own pods that cannot be read and may be, or come to be, anywhere: what is wrong with each.
  const ByName<std::string>& lost() const { return lost_; }
  size_t pods() const { return bound_.size() + waiting_.size() + lost_.size(); }

 private:
  struct Bound {
    ByName<Place>::iterator place;
    Requests requests;
    bool readable = true;
  };
  void bind(PodRow row);
  void wait(PodRow row);
  void stop_waiting(ByName<Waiting>::iterator pod);
  void release(ByName<Place>::iterator place);

  ByName<Place> places_;
  ByName<Bound> bound_;
  ByName<Waiting> waiting_;
  std::map<Fingerprint, std::shared_ptr<const Placement>> placements_;  // by kind of those
  ByName<std::string> lost_;
  bool nodes_known_ = false;
  bool pods_known_ = false;
};

}  // namespace spillway::supply
