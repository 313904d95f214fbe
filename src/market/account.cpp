#include "market/account.h"

#include <algorithm>
#include <limits>

#include "market/mutants.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

// Without a quota or budget: what can be counted. Capacity and prices are claims of outsiders, and
// their sum over many pools must not be able to leave the range of int64.
constexpr int64_t k_no_cap = std::numeric_limits<int64_t>::max();

// Lowers `room` to what is left under one cap.
void limit_by(Room& room, std::optional<int64_t> quota, int64_t used, int64_t per_unit,
              std::string_view what) {
  if (per_unit <= 0) return;
  const int64_t cap = quota.value_or(k_no_cap);
  const int64_t left = std::max<int64_t>(0, cap - used) / per_unit;
  if (left >= room.units) return;
  room.units = static_cast<int32_t>(left);
  room.why = Code::over_quota;
  room.reason = fmt::format("the quota for {} is {}, of which {} is in use", what, cap, used);
  room.next = "release something, or ask the operator for a larger quota";
}

std::optional<int64_t> amount_in(const model::Counts& counts, const std::string& name) {
  const auto at = std::find_if(counts.begin(), counts.end(),
                               [&](const model::Count& one) { return one.name == name; });
  return at == counts.end() ? std::nullopt : std::optional(at->amount);
}

void limit_by_counts(Room& room, const model::Counts& caps, const model::Counts& used,
                     const model::Counts& per_unit) {
  for (const model::Count& one : per_unit) {
    limit_by(room, amount_in(caps, one.name), amount_in(used, one.name).value_or(0), one.amount,
             one.name);
  }
}

void limit_by_budget(Room& room, const AccountRecord& account, const model::Offer& offer,
                     int64_t reserve_per_unit) {
  const auto& budget = account.cluster.budget;
  const Currency& currency = offer.price.currency;
  if (budget && currency != budget->limit.currency) {
    const std::string wanted = budget->limit.currency.text();
    room = {0, Code::invalid,
            fmt::format("it is priced in {}, the budget of {} is in {}", currency.text(),
                        account.cluster.id.text, wanted),
            fmt::format("look for offers in {}", wanted)};
    return;
  }
  if (reserve_per_unit == 0) return;
  const int64_t left = left_to_promise(account, currency);
  const int64_t affordable = std::max<int64_t>(0, left) / reserve_per_unit;
  if (affordable >= room.units) return;
  room = {static_cast<int32_t>(affordable), Code::over_budget,
          fmt::format("a unit needs {} {} set aside, {} is left of the budget",
                      micros_to_text(reserve_per_unit), currency.text(), micros_to_text(left)),
          "release something, or ask the operator for a larger budget"};
}

// A hold is open or not, however many units it has.
void limit_by_holds(Room& room, const AccountRecord& account) {
  const auto& cap = account.cluster.quota.open_holds;
  if (!cap || account.open_holds < *cap || mutant(Mutant::ignore_open_holds)) return;
  room = {0, Code::over_quota, fmt::format("{} holds are open already", account.open_holds),
          "confirm or release one first"};
}

}  // namespace

tl::unexpected<Error> not_enrolled(const ClusterId& cluster) {
  return fail(Code::denied, "cluster " + cluster.text, "it is not enrolled in this federation",
              "ask the operator to enrol it");
}

Room room_for(const AccountRecord& account, const model::Offer& offer, int64_t reserve_per_unit,
              int32_t wanted, OpensHold opens) {
  const model::Quota& quota = account.cluster.quota;
  const model::Resources& used = account.used;
  Room room{wanted, Code::internal, {}, {}};
  limit_by(room, quota.units, account.units, 1, "units");
  limit_by(room, quota.cpu_millis, used.cpu_millis, offer.shape.cpu_millis, "cpu in millicores");
  limit_by(room, quota.memory_bytes, used.memory_bytes, offer.shape.memory_bytes,
           "memory in bytes");
  limit_by(room, quota.pods, used.pods, offer.shape.pods, "pods");
  limit_by(room, quota.storage_bytes, used.storage_bytes, offer.shape.storage_bytes,
           "storage in bytes");
  limit_by_counts(room, quota.gpus, used.gpus, offer.shape.gpus);
  limit_by_counts(room, quota.extended, used.extended, offer.shape.extended);
  if (opens == OpensHold::yes) limit_by_holds(room, account);
  limit_by_budget(room, account, offer, reserve_per_unit);
  return room;
}

Room room_for_spares(const AccountRecord& account, const model::Offer& offer, int32_t most,
                     int32_t wanted) {
  Room room{wanted, Code::internal, {}, {}};
  if (const int64_t left = std::max<int64_t>(0, most - account.spares); left < wanted) {
    room = {static_cast<int32_t>(left), Code::over_quota,
            fmt::format("a buyer keeps at most {} spares, and {} are kept", most, account.spares),
            "give some back, or buy them"};
  }
  limit_by_holds(room, account);
  limit_by_budget(room, account, offer, 0);
  return room;
}

Duration longest_run(const model::Terms& terms, Duration lease) {
  return lease + terms.grace + std::max(terms.notice, terms.drain);
}

int64_t reserve_of(const model::Price& price, int64_t rate, const model::Terms& terms,
                   Duration lease) {
  return model::charge_for(rate, std::max(price.minimum_term, longest_run(terms, lease)));
}

Purse& purse_in(AccountRecord& account, const Currency& currency) {
  auto& purses = account.purses;
  const auto at = std::lower_bound(
      purses.begin(), purses.end(), currency,
      [](const Purse& purse, const Currency& wanted) { return purse.currency < wanted; });
  if (at != purses.end() && at->currency == currency) return *at;
  return *purses.insert(at, Purse{currency, 0, 0});
}

int64_t left_to_promise(const AccountRecord& account, const Currency& currency) {
  const auto& budget = account.cluster.budget;
  const bool bound = budget && budget->limit.currency == currency;
  const int64_t unbound = budget ? 0 : k_no_cap;  // a budget allows nothing in other currencies
  const int64_t limit = bound ? budget->limit.micros : unbound;
  for (const Purse& purse : account.purses) {
    if (purse.currency == currency) return limit - checked_add(purse.reserved, purse.spent);
  }
  return limit;
}

Result<Answer> run(Workspace& workspace, const PutCluster& command, const Context& context) {
  SPILLWAY_TRY(validate(command.cluster));
  const auto* present = workspace.find<AccountRecord>(account_key(command.cluster.id));
  SPILLWAY_TRY(check_sort(workspace, command.cluster.id.text, {model::Role::consumer}));
  if (command.expected && (present == nullptr || present->cluster != *command.expected)) {
    return fail(Code::conflict, "cluster " + command.cluster.id.text,
                "somebody has changed it meanwhile", "read it again, then decide");
  }
  AccountRecord next = present == nullptr ? AccountRecord{} : *present;
  const auto& budget = command.cluster.budget;
  if (budget && next.spent_from != budget->from) {
    for (Purse& purse : next.purses) purse.spent = 0;
    next.spent_from = budget->from;
  }
  next.cluster = command.cluster;
  workspace.emit({.sequence = 0,
                  .at = context.now,
                  .kind = EventKind::cluster_put,
                  .subject = command.cluster.id.text,
                  .pool = {},
                  .provider = {},
                  .buyer = command.cluster.id,
                  .detail = {}});
  workspace.put(account_key(command.cluster.id), std::move(next));
  return Answer{};
}

}  // namespace spillway::market
