// FabricLaws: the laws on what contracts become in clusters (sim/fabric_party.h), recounted from
// the clusters' objects and the rows of the book; they share nothing with fabric/.
//
// clang-format off
//   1 cover    at every change of a Quota: what it grants is granted for a unit that its provider has
//              sold to that buyer, which lives, is at most what was sold, and nothing for a spare that
//              nobody bought; and what no contract of its agent names is granted nothing for long
//   2 durable  a unit that was told to end, and has gone, is not made again; what somebody edits by
//              hand in a slice, a virtual node, a grant or the record does not stay
//   3 owned    what is left of a unit that its agent has no contract for goes, on both sides, whoever
//              is dead, vanished or silent; in the end nothing that was made is left
//   4 calm     no slice, virtual node or node of a unit begins to go, and no grant is taken back,
//              unless the book says that it ends, its stated point is over, its buyer wants it, or
//              its buyer's agent has found the provider dead
//   6 fenced   no pod with identity runs at its consumer while a guest of that name runs at a provider
//   7 explained  what was edited by hand has an event, where nothing stood in its way
// clang-format on
//
// Law 6 has the limits that docs/fabric.md states. An API server that is down, an agent that is
// dead or cut off from it can stop nobody's pods: while that lasts, and for as long as the first
// look after it takes, a provider is not held to it. In foul weather that look may have to be
// repeated, and so may the words by which guests are stopped: then so long counts, and not an
// instant. The other limit is in sim/fence_limits.h.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/fabric_party.h"
#include "sim/fence_limits.h"

namespace spillway::sim {

class FabricLaws {
 public:
  FabricLaws(World& world, Network& network, Laws& laws);

  void watch(FabricParty& party);  // from now on
  void begin();                    // what is looked at by time
  void check_settled();
  uint64_t nodes() const { return ready_.size(); }  // that have been ready
  uint64_t excused() const { return excused_; }     // overlaps that the limits allow
  uint64_t mended() const { return mended_; }       // edits by hand that were put right

 private:
  // A unit, in the cluster of one of its parties.
  struct Unit {
    std::string name;
    const model::Contract* row = nullptr;  // null: the book has none
    const model::Unit* unit = nullptr;     // null: it has none of that number
  };
  Unit unit_of(const std::string& name) const;
  FabricParty* find(const ClusterId& id) const;

  void on_change(FabricParty& at, const embedded::Change& change);
  void on_quota(FabricParty& at, const embedded::Change& change);
  void check_granted(FabricParty& at, const std::string& space, const std::string& unit,
                     const std::map<std::string, int64_t, std::less<>>& amounts);
  void on_made(FabricParty& at, const embedded::Object& slice);
  void on_going(FabricParty& at, const embedded::Object& object);
  static bool is_gone_with_another(FabricParty& at, const Unit& unit,
                                   const embedded::Object& object);
  bool may_end(FabricParty& at, const Unit& unit) const;
  void check_calm(FabricParty& at, const std::string& name, std::string_view what);

  void look();
  void check_fenced(FabricParty& buyer, const std::string& pod);
  bool runs_at_home(FabricParty& buyer, const std::string& pod) const;
  bool runs_at(FabricParty& provider, FabricParty& buyer, const std::string& pod) const;
  void look_for_left(FabricParty& at);
  bool is_wanted(FabricParty& at, const std::string& unit) const;
  void check_nothing_left(FabricParty& at);

  // One that somebody has edited.
  struct Edited {
    FabricParty* at;
    HandEdit edit;
    Instant since;                 // that its agent could do something about it
    std::optional<Instant> right;  // since when it is right again
  };
  void look_at_edits();
  bool is_over(Edited& one);
  void check_told(const Edited& one);
  bool is_hindered(const Edited& one) const;
  bool has_event_of(const Edited& one) const;

  World& world_;
  Network& network_;
  Laws& laws_;
  std::vector<FabricParty*> parties_;
  FenceLimits limits_;
  std::set<std::string> ready_;
  uint64_t excused_ = 0;
  uint64_t mended_ = 0;
  std::vector<Edited> edits_;
  std::map<std::string, Instant> ended_;  // slices that their buyer has deleted, by unit
  std::map<std::string, Instant> made_;   // slices, when their buyer made them last
  std::map<std::pair<std::string, std::string>, Instant> overlaps_;  // buyer and pod: since when
  // Cluster and object: since when it is unwanted, and its agent could do something about it.
  std::map<std::pair<std::string, std::string>, Instant> left_;
};

}  // namespace spillway::sim
