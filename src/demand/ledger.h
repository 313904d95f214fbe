// Ledger: what a cluster has asked for and holds, group by group: the mind behind the calls of the
// Cluster Autoscaler.
//
// Assumptions
//   - one Ledger per buyer; its state is saved before what it asks for is sent (law 2).
//   - a hold is idempotent under its key: asking again tells what came of it the first time.
// Algorithm
//   A group is an offer; its id is the offer's, for ever. Its target counts units that are held,
//   those whose failure nobody has heard of yet, and every ask whose outcome is not known: after
//   any answer it is what is really held, or may be. A unit goes one way:
//
//     creating ──▶ running ──▶ deleting ──▶ gone
//         └──▶ failed ────────────▲
//
//   Before that it may have been a *spare*: agreed on, at zero, its node not Ready. Spares are not
//   of the group: no target, no instance, no node of it, until they are asked for. Then the ask's
//   placeholders carry their names, and whoever asks for more gets spares first.
//
//   A failed unit stays, as *creating* with its error, until the caller deletes it: so the caller
//   hears of it, and its target falls by its own call. A group whose provider has failed one rests:
//   nothing more can be had of it for a while. The caller alone would not see to that: it backs off
//   for what fails while it waits for it, and takes the same group again after any later failure.
//   Who asks is told at once what can be known at once: an unknown group, a foreign node, a delta
//   beyond the maximum change nothing.
// Ties
//   Units are cancelled youngest first, then by number downwards.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "demand/use.h"
#include "model/contract.h"
#include "model/offer.h"

namespace spillway::demand {

enum class UnitState : uint8_t { creating, running, failed, deleting, spare };

// Why a unit is not coming.
struct Failure {
  std::string code;  // for programs: "provider-gone"
  std::string message;
  bool is_capacity = false;   // the provider has none; else something broke
  bool is_providers = false;  // its doing, and not ours or nobody's: that counts against it
  bool operator==(const Failure&) const = default;
};

struct HeldUnit {
  ContractId contract;
  int32_t number = 0;
  UnitState state = UnitState::creating;
  std::optional<Failure> failure;
  Instant since;  // in this state
  Use use = {};
  bool is_spare = false;  // it was never bought, however it ends
  bool operator==(const HeldUnit&) const = default;
};

// A hold, or a purchase of spares, whose outcome is not known yet. Its generation is saved before
// it is sent.
struct Ask {
  int64_t generation = 0;
  int32_t asked = 0;             // the same in every try, or it would be another hold
  std::vector<int32_t> dropped;  // placeholders that nobody wants any more, sorted
  Instant since;
  Use use = {};  // of each unit that comes of it
  bool is_for_spares = false;
  ContractId contract = {};         // a purchase: of spares of this one
  std::vector<int32_t> units = {};  // these, in the order of the placeholders
  bool operator==(const Ask&) const = default;

  bool is_purchase() const { return !units.empty(); }

  int32_t wanted() const { return asked - static_cast<int32_t>(dropped.size()); }
  bool wants(int32_t number) const;
  void drop(int32_t number);  // one that is wanted
};

struct GroupState {
  model::Offer offer;      // as it was when it was last seen
  bool is_on_sale = true;  // else nothing more can be had: max = what there is
  int32_t free_units = 0;  // by the market's last word
  std::optional<Instant> rests_until;
  std::vector<Ask> asks;  // oldest first
  std::vector<HeldUnit> units;
  bool operator==(const GroupState&) const = default;

  int32_t target() const;  // without units that are being deleted, and spares
  int32_t spares() const;  // there, or asked for
  // The ask that buys a spare, and its placeholder; none: nobody wants it.
  const Ask* purchase_of(const HeldUnit& unit, int32_t& placeholder) const;
  int32_t most() const;
  bool is_in_use() const { return !asks.empty() || !units.empty(); }
};

// What was remembered of a provider, as of then: millionths of a failure.
struct Tried {
  int64_t failures_micros = 0;
  Instant as_of;
  bool operator==(const Tried&) const = default;
};

struct LedgerState {
  ClusterId cluster;
  int64_t generation = 0;  // the last that was used, of all groups
  std::map<OfferId, GroupState> groups;
  std::map<ClusterId, Tried> tried = {};  // providers that have carried a unit, or failed to
  std::vector<PastHour> past = {};        // what units took that are gone
  bool operator==(const LedgerState&) const = default;
};
Status validate(const LedgerState& state);

// A node as a caller names it: by either. A placeholder's name is its provider id.
struct NodeRef {
  std::string provider_id;
  std::string name;
};

// One entry of what a group consists of.
struct Instance {
  std::string provider_id;
  UnitState state = UnitState::creating;
  std::optional<Failure> failure;
  bool operator==(const Instance&) const = default;
};

class Ledger {
 public:
  // As long as the Cluster Autoscaler's own first wait.
  static constexpr Duration k_rest = minutes(5);

  explicit Ledger(LedgerState state);
  const LedgerState& state() const { return state_; }

  // ---- what is on sale ----
  // All that is to be shown from now on. What is in use and not among them stays, not on sale.
  // Groups rest until `now` is past their time.
  struct OnSale {
    model::Offer offer;
    int32_t free_units = 0;
  };
  void show(std::span<const OnSale> offers, Instant now = {});

  // ---- what a caller asks ----
  const GroupState* find(const OfferId& group) const;
  // The group of a node; none: it is not one of ours, or no longer.
  std::optional<OfferId> group_of(const NodeRef& node) const;
  std::vector<Instance> instances(const OfferId& group) const;
  // Whether so many more can be had, by what is known here.
  Status may_increase(const OfferId& group, int32_t delta) const;
  // Whether a node or unit of this name is of ours, a spare too.
  bool knows(const std::string& name) const { return places_.contains(name); }
  // New asks, to be saved and then sent: spares first. `use` is what each unit will take.
  Result<std::vector<Ask>> increase(const OfferId& group, int32_t delta, Instant now,
                                    const Use& use = {});
  // The units that are to be released; those that are gone already are no error.
  Status remove(const OfferId& group, std::span<const NodeRef> nodes, Instant now);
  // `delta` below zero: so many of those that are not there yet are cancelled, or none.
  Status cancel(const OfferId& group, int32_t delta, Instant now);

  // ---- spares ----
  // An ask for so many more of them.
  Ask keep_spares(const OfferId& group, int32_t count, Instant now, const Use& use);
  // So many that nobody wants are given back; youngest first.
  void drop_spares(const OfferId& group, int32_t count, Instant now);

  // ---- what has happened ----
  void granted(const OfferId& group, int64_t generation, const model::Contract& contract,
               Instant now);
  void refused(const OfferId& group, int64_t generation);
  // A purchase that will always be: its spares are worth nothing, and given back.
  void refused_for_good(const OfferId& group, int64_t generation, Instant now);
  void running(const ContractId& contract, int32_t unit, Instant now);
  void failed(const ContractId& contract, int32_t unit, const Failure& failure, Instant now);
  void gone(const ContractId& contract, int32_t unit, Instant now);  // its end is known to all
  void remember(const ClusterId& provider, const Tried& tried);

 private:
  void bought(GroupState& state, std::vector<Ask>::iterator at, Instant now);
  std::optional<OfferId> group_of_unit(const std::string& name) const;
  HeldUnit* find_unit(const ContractId& contract, int32_t number);
  Result<GroupState*> group(const OfferId& id);
  void forget_unused();

  LedgerState state_;
  // Where each unit is, by provider id and by name of its node.
  std::map<std::string, OfferId, std::less<>> places_;
};

// What a hold for the ask is keyed by at the broker: unique to buyer and generation, which counts
// through all groups. The group is for people who read it, as far as there is room.
std::string hold_key(const OfferId& group, const Ask& ask);

std::string_view to_text(UnitState state);

}  // namespace spillway::demand
