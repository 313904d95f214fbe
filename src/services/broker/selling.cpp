// Pools and offers, as their providers publish them.
#include <charconv>

#include "services/broker/contract_access.h"
#include "services/broker/handlers.h"
#include "services/broker/listing.h"

namespace spillway::services {
namespace {

using market::Kind;

template <class Record>
void get_row(Desk& desk, const std::shared_ptr<Call>& call, market::Key key,
             std::string_view noun) {
  load(desk, call, {{key}, {}}, [&desk, call, noun](const host::Snapshot& snapshot) {
    const host::Row& row = snapshot.rows[0];
    const auto* record = held<Record>(row);
    if (record == nullptr) return refuse(desk, *call, missing(noun, row.key.id));
    answer_tagged(desk, *call, wire::row_of(*record), row.version);
  });
}

std::optional<int64_t> sequence_asked(Desk& desk, Call& call) {
  const std::string* text = call.target.parameter("sequence");
  int64_t sequence = 0;
  if (text != nullptr) {
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, sequence);
    if (error == std::errc{} && stop == end && sequence > 0) return sequence;
  }
  refuse(desk, call,
         {Code::invalid, "sequence", "it is missing or not a positive number",
          "say ?sequence=N, one more than the last that you published"});
  return std::nullopt;
}

bool same_id(Desk& desk, Call& call, std::string_view noun, const std::string& id) {
  if (id == call.owned_id()) return true;
  refuse(
      desk, call,
      {Code::invalid, fmt::format("{}.id", noun),
       fmt::format("it is {}, the path says {}", id, call.owned_id()), "let both name the same"});
  return false;
}

// A cap on memory, not a law: what is being published at this moment may slip past it.
bool within_cap(Desk& desk, Call& call, std::string_view noun, size_t has, size_t most) {
  if (has < most) return true;
  refuse(desk, call,
         {Code::over_quota, "cluster " + call.caller.name,
          fmt::format("it has {} {}s, no more than {} are taken", has, noun, most),
          fmt::format("withdraw a {} that is no longer needed", noun)});
  return false;
}

}  // namespace

void handle_list_pools(Desk& desk, const std::shared_ptr<Call>& call) {
  list_rows<market::PoolRecord>(desk, call, Kind::pool, &wire::PoolPage::pools);
}

void handle_get_pool(Desk& desk, const std::shared_ptr<Call>& call) {
  get_row<market::PoolRecord>(desk, call, market::key_of(PoolId(call->owned_id())), "pool");
}

void handle_put_pool(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body<wire::PoolPut>(desk, *call, "pool");
  if (!body || !same_id(desk, *call, "pool", body->pool.id.text)) return;
  const auto counts = desk.feed.counts_of(call->cluster());
  if (!desk.feed.knows(body->pool.id) &&
      !within_cap(desk, *call, "pool", counts.pools, desk.caps.pools)) {
    return;
  }
  market::PublishPool command{call->cluster(), std::move(body->pool),    body->sequence,
                              body->lease,     std::move(body->carries), body->epoch,
                              body->report};
  submit(desk, call, std::move(command), [&desk, call](const market::Answer& told) {
    answer(desk, *call, 200, wire::PoolPutAnswer{told.epoch});
  });
}

void handle_delete_pool(Desk& desk, const std::shared_ptr<Call>& call) {
  if (!no_body(desk, *call)) return;
  const auto sequence = sequence_asked(desk, *call);
  if (!sequence) return;
  submit(desk, call, market::WithdrawPool{call->cluster(), PoolId(call->owned_id()), *sequence},
         done(desk, call));
}

void handle_list_offers(Desk& desk, const std::shared_ptr<Call>& call) {
  list_rows<market::OfferRecord>(desk, call, Kind::offer, &wire::OfferPage::offers);
}

void handle_get_offer(Desk& desk, const std::shared_ptr<Call>& call) {
  const OfferId id(call->owned_id());
  const bool own = call->parameters[0] == call->caller.name;
  if (call->scope == Scope::all || own) {
    return get_row<market::OfferRecord>(desk, call, market::key_of(id), "offer");
  }
  if (!call->caller.has(model::Role::consumer)) {
    return refuse(desk, *call, missing("offer", id.text));
  }
  const auto offer = desk.feed.find(call->cluster(), id);
  if (!offer) {
    const bool unseen = offer.error().code == Code::not_found;
    return refuse(desk, *call, unseen ? missing("offer", id.text) : offer.error());
  }
  answer(desk, *call, 200,
         wire::OfferRow{*offer, ClusterId(call->parameters[0]), std::nullopt, false});
}

void handle_put_offer(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body<wire::OfferPut>(desk, *call, "offer");
  if (!body || !same_id(desk, *call, "offer", body->offer.id.text)) return;
  const auto counts = desk.feed.counts_of(call->cluster());
  if (!desk.feed.knows(body->offer.id) &&
      !within_cap(desk, *call, "offer", counts.offers, desk.caps.offers)) {
    return;
  }
  submit(desk, call, market::PublishOffer{call->cluster(), std::move(body->offer), body->sequence},
         done(desk, call));
}

void handle_delete_offer(Desk& desk, const std::shared_ptr<Call>& call) {
  if (!no_body(desk, *call)) return;
  const auto sequence = sequence_asked(desk, *call);
  if (!sequence) return;
  submit(desk, call, market::WithdrawOffer{call->cluster(), OfferId(call->owned_id()), *sequence},
         done(desk, call));
}

void handle_notice(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body_if_any<wire::SignedRequest>(desk, *call, "notice");
  if (!body) return;
  market::GiveNotice notice{call->cluster(), contract_of(*call)};
  if (!take_event(desk, *call, std::move(body->event), notice.event)) return;
  tell_contract(desk, call, std::move(notice));
}

void handle_usage(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body<wire::UsageRequest>(desk, *call, "usage");
  if (!body) return;
  market::MeterUsage usage{call->cluster(), contract_of(*call), std::move(body->used)};
  if (!take_event(desk, *call, std::move(body->event), usage.event)) return;
  tell_contract(desk, call, std::move(usage));
}

}  // namespace spillway::services
