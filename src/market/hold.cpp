// Holding: the one place where capacity is sold. All lines of a hold are granted in one commit, or
// none is (law 1: in that commit the pool covers all that is held and contracted on it).
#include <algorithm>

#include "market/account.h"
#include "market/mutants.h"
#include "market/outage.h"
#include "market/pool_state.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

constexpr size_t k_max_key = 128;

Status check_key(const Hold& hold) {
  const bool printable =
      std::all_of(hold.key.begin(), hold.key.end(), [](char c) { return c > ' ' && c < 127; });
  if (hold.key.empty() || hold.key.size() > k_max_key || !printable) {
    return fail(Code::invalid, "idempotency key",
                fmt::format("it must have 1 to {} printable ASCII characters", k_max_key),
                "use a UUID, the same for every retry of this hold");
  }
  return {};
}

Status check_line(const Hold& hold, const HoldLine& line, const Rules& rules) {
  const std::string thing = "offer " + line.offer.text;
  if (line.units < 1 || line.units > rules.max_units) {
    return fail(Code::invalid, thing, fmt::format("{} units cannot be held", line.units),
                fmt::format("ask for 1 to {}", rules.max_units));
  }
  if (line.at_least < 1 || line.at_least > line.units) {
    return fail(Code::invalid, thing,
                fmt::format("at least {} of {} units makes no sense", line.at_least, line.units),
                fmt::format("ask for at least 1 to {}", line.units));
  }
  const auto same = std::count_if(hold.lines.begin(), hold.lines.end(),
                                  [&](const HoldLine& other) { return other.offer == line.offer; });
  if (same > 1) {
    return fail(Code::invalid, thing, "it is named in two lines of one hold",
                "ask for it in one line");
  }
  return {};
}

Status check_form(const Hold& hold, const Rules& rules) {
  SPILLWAY_TRY(check_key(hold));
  if (hold.lines.empty() || hold.lines.size() > static_cast<size_t>(rules.max_lines)) {
    return fail(Code::invalid, "hold", fmt::format("{} lines cannot be held", hold.lines.size()),
                fmt::format("ask for 1 to {} offers", rules.max_lines));
  }
  if (hold.ttl.ms < 1000 || hold.ttl > rules.max_hold_ttl) {
    return fail(Code::invalid, "hold",
                fmt::format("a ttl of {} is out of range", to_text(hold.ttl)),
                fmt::format("ask for 1s to {}", to_text(rules.max_hold_ttl)));
  }
  for (const HoldLine& line : hold.lines) SPILLWAY_TRY(check_line(hold, line, rules));
  return {};
}

Fingerprint body_of(const Hold& hold) {
  Digest digest;
  for (const HoldLine& line : hold.lines) {
    digest.add(line.offer.text).add(line.units).add(line.at_least);
    if (line.spare) digest.add("spare");
  }
  return digest.add(hold.ttl.ms).value();
}

// An offer that this buyer may not see answers exactly as one that does not exist.
Result<const OfferRecord*> visible_offer(Workspace& workspace, const AccountRecord& account,
                                         const OfferId& id, Instant now) {
  const auto* offer = workspace.find<OfferRecord>(key_of(id));
  const bool visible =
      offer != nullptr && !offer->withdrawn &&
      (mutant(Mutant::show_hidden) ||
       may_see(offer->offer.visibility, account.cluster.id, account.cluster.labels));
  if (!visible) {
    return fail(Code::not_found, "offer " + id.text, "there is no such offer for you",
                "query the market for what you may buy");
  }
  if (offer->provider == account.cluster.id) {
    return fail(Code::conflict, "offer " + id.text, "a cluster does not buy from itself",
                "use your own capacity directly");
  }
  if (offer->offer.until && *offer->offer.until <= now) {
    return fail(Code::gone, "offer " + id.text,
                fmt::format("it was on sale until {}", to_text(*offer->offer.until)),
                "query the market for others");
  }
  return offer;
}

struct Sale {
  const OfferRecord* offer = nullptr;
  const PoolRecord* pool = nullptr;
  int32_t units = 0;
  int64_t rate = 0;
  int64_t reserve = 0;  // per unit
  bool spare = false;
};

Result<Sale> agree(Workspace& workspace, const AccountRecord& account, const HoldLine& line,
                   const EpochRecord& epoch, const Rules& rules, Instant now) {
  const auto offer = visible_offer(workspace, account, line.offer, now);
  if (!offer) return tl::unexpected(offer.error());
  Sale sale;
  sale.offer = *offer;
  const model::Offer& terms = sale.offer->offer;
  sale.pool = workspace.find<PoolRecord>(key_of(terms.pool));
  const std::string thing = "offer " + line.offer.text;
  if (sale.pool == nullptr) {
    return fail(Code::not_found, thing, "its pool is not published", "try another offer");
  }
  if (const auto why = why_not_sold(*sale.pool, epoch, now); !why.empty()) {
    return fail(Code::taken, thing, std::string(why), "try another offer, or this one later");
  }
  if (!sale.pool->pool.node.covers(terms.shape)) {
    return fail(Code::taken, thing, "its pool's nodes have become smaller than its shape",
                "try another offer");
  }
  sale.rate = hourly_rate(terms.price, terms.shape);
  sale.spare = line.spare;
  if (!sale.spare) {
    sale.reserve = reserve_of(terms.price, sale.rate, terms.terms, terms.terms.lease);
  }
  const bool is_covered = sale.spare || mutant(Mutant::skip_cover);
  const int32_t free = is_covered ? line.units : free_of(*sale.pool).how_many(terms.shape);
  const Room room = sale.spare ? room_for_spares(account, terms, rules.max_spares, line.units)
                               : room_for(account, terms, sale.reserve, line.units);
  sale.units = std::min({line.units, free, room.units});
  if (sale.units >= line.at_least) return sale;
  if (mutant(Mutant::below_at_least) && sale.units > 0) return sale;
  if (room.units < line.at_least) return fail(room.why, thing, room.reason, room.next);
  return fail(Code::taken, thing,
              fmt::format("at least {} units are wanted, {} are free", line.at_least, free),
              free > 0 ? fmt::format("ask for at most {}, or wait for a release", free)
                       : "try another offer, or wait for a release");
}

model::Contract make_contract(const ClusterId& buyer, const ContractId& id, const Sale& sale,
                              Duration ttl, const EpochRecord& epoch, Instant now) {
  const model::Offer& offer = sale.offer->offer;
  model::Contract contract;
  contract.id = id;
  contract.buyer = buyer;
  contract.provider = sale.offer->provider;
  contract.pool = offer.pool;
  contract.offer = offer.id;
  contract.shape = offer.shape;
  contract.price = offer.price;
  contract.rate = sale.rate;
  contract.terms = offer.terms;
  contract.units.reserve(static_cast<size_t>(sale.units));
  for (int32_t number = 0; number < sale.units; ++number) {
    contract.units.push_back(
        {.number = number, .live = true, .ended = {}, .reserved = sale.reserve, .charged = 0});
  }
  contract.spare = sale.spare;
  contract.created = now;
  set_deadline(contract, now + ttl, epoch);
  return contract;
}

// Books one line on pool and account, and stages the contract.
Grant book(Workspace& workspace, AccountRecord& account, const Sale& sale, model::Contract contract,
           const Context& context) {
  const model::Resources sold = contract.taken();
  Grant grant{contract.id,       contract.offer, sale.units,
              contract.deadline, contract.rate,  contract.price.currency};
  (sale.spare ? account.spares : account.units) += sale.units;
  account.open_holds += 1;
  account.used += sold;
  Purse& purse = purse_in(account, contract.price.currency);
  purse.reserved = checked_add(purse.reserved, checked_multiply(sale.reserve, sale.units));

  PoolRecord pool = *sale.pool;
  pool.committed += sold;
  put_pool(workspace, std::move(pool), context.now, context.rules.reclaim_after);
  workspace.emit(event_on(contract, EventKind::contract_held, context.now,
                          fmt::format("{} {} of {}", sale.units, sale.spare ? "spares" : "units",
                                      contract.offer.text)));
  Key key = key_of(contract.id);
  workspace.put(std::move(key), std::move(contract));
  return grant;
}

}  // namespace

Result<Answer> run(Workspace& workspace, const Hold& hold, const Context& context) {
  SPILLWAY_TRY(check_form(hold, context.rules));
  SPILLWAY_CHECK(hold.fresh.size() == hold.lines.size(), "a hold came without ids for its lines");
  const auto* known = workspace.find<AccountRecord>(account_key(hold.buyer));
  if (known == nullptr) return not_enrolled(hold.buyer);
  AccountRecord account = *known;
  const Fingerprint body = body_of(hold);
  Key request = request_key(hold.buyer, hold.key);
  const auto* before = workspace.find<RequestRecord>(request);
  if (before != nullptr && before->forget_at > context.now && !mutant(Mutant::double_count_retry)) {
    if (before->body != body) {
      return fail(Code::key_reused, "idempotency key " + hold.key,
                  "it was used for a hold with another body", "use a new key for a new hold");
    }
    Answer answer;
    answer.grants = before->grants;
    answer.replayed = true;
    return answer;
  }
  SPILLWAY_TRY(check_not_revoked(workspace, hold.buyer));

  const EpochRecord epoch = current_epoch(workspace);
  Answer answer;
  for (size_t i = 0; i < hold.lines.size(); ++i) {
    auto sale = agree(workspace, account, hold.lines[i], epoch, context.rules, context.now);
    if (!sale) return tl::unexpected(std::move(sale).error());
    // Writing needs the old row's version, so the row is read even though no contract is there yet.
    if (workspace.find<model::Contract>(key_of(hold.fresh[i])) != nullptr) {
      return fail(Code::internal, "contract " + hold.fresh[i].text, "its id is taken",
                  "try again with the same key");
    }
    answer.grants.push_back(book(
        workspace, account, *sale,
        make_contract(hold.buyer, hold.fresh[i], *sale, hold.ttl, epoch, context.now), context));
  }
  workspace.put(std::move(request), RequestRecord{hold.buyer, hold.key, body, answer.grants,
                                                  context.now + context.rules.key_retention});
  workspace.put(account_key(hold.buyer), std::move(account));
  return answer;
}

}  // namespace spillway::market
