#include "market/record_codec.h"

#include "base/text.h"
#include "market/record_fields.h"
#include "model/validation.h"

// Invariants stand in the records' own namespace, where the codec looks for them.
namespace spillway::market {
namespace {

using model::at;
using model::check_range;
using model::check_time;
using model::refuse;
using model::under;

constexpr int64_t k_most = INT64_MAX;

Status check_counts(const model::Counts& counts) {
  for (size_t i = 0; i < counts.size(); ++i) {
    SPILLWAY_TRY(check_range(counts[i].name, counts[i].amount, 1, k_most));
    if (i > 0 && counts[i - 1].name >= counts[i].name) {
      return refuse(counts[i].name, "it is out of order or there twice");
    }
  }
  return {};
}

// A sum may exceed what a single shape may have: it is only never negative.
Status check_sum(const model::Resources& sum) {
  SPILLWAY_TRY(check_range("cpu", sum.cpu_millis, 0, k_most));
  SPILLWAY_TRY(check_range("memory", sum.memory_bytes, 0, k_most));
  SPILLWAY_TRY(check_range("pods", sum.pods, 0, k_most));
  SPILLWAY_TRY(check_range("storage", sum.storage_bytes, 0, k_most));
  SPILLWAY_TRY(under("gpus", check_counts(sum.gpus)));
  return under("extended", check_counts(sum.extended));
}

Status check_owner(const ClusterId& provider, const std::string& id) {
  SPILLWAY_TRY(at("provider", check_cluster_id(provider.text)));
  if (owner_of(id) == provider.text) return {};
  return refuse("provider", in_quotes(id) + " is not the provider's");
}

Status check_purses(const std::vector<Purse>& purses) {
  for (size_t i = 0; i < purses.size(); ++i) {
    const Purse& purse = purses[i];
    if (i > 0 && purses[i - 1].currency >= purse.currency) {
      return under("purses", i, refuse("currency", "it is out of order or there twice"));
    }
    if (purse.reserved < 0) return under("purses", i, refuse("reserved", "a negative amount"));
    if (purse.spent < 0) return under("purses", i, refuse("spent", "a negative amount"));
  }
  return {};
}

Status check_grant(const Grant& grant) {
  SPILLWAY_TRY(at("contract", check_contract_id(grant.contract.text)));
  SPILLWAY_TRY(at("offer", check_owned_id(grant.offer.text)));
  SPILLWAY_TRY(check_range("units", grant.units, 1, INT32_MAX));
  SPILLWAY_TRY(check_time("hold_until", grant.hold_until));
  if (grant.rate < 0) return refuse("rate", "a negative amount");
  return {};
}

}  // namespace

// Times and sequence numbers are not held against each other: a clock that was set back must not
// quarantine a row.
Status validate(const PoolRecord& r) {
  SPILLWAY_TRY(under("pool", validate(r.pool)));
  SPILLWAY_TRY(check_owner(r.provider, r.pool.id.text));
  SPILLWAY_TRY(check_range("sequence", r.sequence, 1, k_most));
  SPILLWAY_TRY(check_time("lease_until", r.lease_until));
  if (r.heard) SPILLWAY_TRY(check_time("heard", *r.heard));
  SPILLWAY_TRY(check_range("epoch", r.epoch, 0, k_most));  // 0: never confirmed
  SPILLWAY_TRY(under("committed", check_sum(r.committed)));
  SPILLWAY_TRY(under("unaccounted", check_sum(r.unaccounted)));
  if (r.oversold_since) SPILLWAY_TRY(check_time("oversold_since", *r.oversold_since));
  if (r.reclaim_at) {
    SPILLWAY_TRY(check_time("reclaim_at", *r.reclaim_at));
    if (!r.oversold_since) return refuse("reclaim_at", "it is not oversold");
  }
  return {};
}

Status validate(const OfferRecord& r) {
  SPILLWAY_TRY(under("offer", validate(r.offer)));
  SPILLWAY_TRY(check_owner(r.provider, r.offer.id.text));
  return check_range("sequence", r.sequence, 1, k_most);
}

Status validate(const AccountRecord& r) {
  SPILLWAY_TRY(under("cluster", validate(r.cluster)));
  SPILLWAY_TRY(check_range("units", r.units, 0, k_most));
  SPILLWAY_TRY(check_range("open_holds", r.open_holds, 0, k_most));
  SPILLWAY_TRY(under("used", check_sum(r.used)));
  return check_purses(r.purses);
}

Status validate(const RequestRecord& r) {
  SPILLWAY_TRY(at("buyer", check_cluster_id(r.buyer.text)));
  if (r.key.empty()) return refuse("key", "it is empty");
  SPILLWAY_TRY(model::check_text("key", r.key));
  if (r.grants.empty()) return refuse("grants", "a hold that granted nothing is not remembered");
  for (size_t i = 0; i < r.grants.size(); ++i) {
    SPILLWAY_TRY(under("grants", i, check_grant(r.grants[i])));
  }
  return check_time("forget_at", r.forget_at);
}

Status validate(const EpochRecord& r) {
  SPILLWAY_TRY(check_range("epoch", r.epoch, 1, k_most));
  return check_range("lost", r.lost, Duration{0}, Duration{k_last_instant.ms});
}

Status validate(const HeartRecord& r) { return check_time("beat", r.beat); }

Status validate(const TokenRecord& r) {
  SPILLWAY_TRY(at("id", check_token_id(r.id)));
  SPILLWAY_TRY(at("name", check_cluster_id(r.name)));
  SPILLWAY_TRY(under("roles", validate(r.roles)));
  SPILLWAY_TRY(under("labels", validate(r.labels)));
  SPILLWAY_TRY(check_time("made", r.made));
  SPILLWAY_TRY(check_time("expires", r.expires));
  SPILLWAY_TRY(check_time("not_after", r.not_after));
  SPILLWAY_TRY(check_time("forget_at", r.forget_at));
  if (!r.is_used()) {
    if (r.certificate.empty()) return {};
    return refuse("certificate", "there is one, and no key that it is for");
  }
  SPILLWAY_TRY(model::check_key_fingerprint("key", r.key));
  return model::check_certificate("certificate", r.certificate);
}

Status validate(const CardRecord& r) {
  SPILLWAY_TRY(under("card", validate(r.card)));
  return r.document.empty() ? Status(refuse("document", "it is empty")) : Status{};
}

Status validate(const LiqoRecord& r) {
  SPILLWAY_TRY(model::check_liqo_id("id", r.id));
  return at("cluster", check_cluster_id(r.cluster.text));
}

Status validate(const AgreementRecord& r) {
  SPILLWAY_TRY(at("contract", check_contract_id(r.contract.text)));
  SPILLWAY_TRY(at("buyer", check_cluster_id(r.buyer.text)));
  SPILLWAY_TRY(at("provider", check_cluster_id(r.provider.text)));
  SPILLWAY_TRY(model::check_key_text("buyer_key", r.buyer_key));
  SPILLWAY_TRY(model::check_key_text("provider_key", r.provider_key));
  SPILLWAY_TRY(model::check_key_fingerprint("id", r.id));
  if (r.document.empty()) return refuse("document", "it is empty");
  SPILLWAY_TRY(check_time("sign_by", r.sign_by));
  for (size_t i = 0; i < r.events.size(); ++i) {
    const KeptEvent& event = r.events[i];
    SPILLWAY_TRY(under("events", i, check_range("number", event.number, 1, k_most)));
    if (event.by == r.buyer || event.by == r.provider) continue;
    return under("events", i, refuse("by", in_quotes(event.by.text) + " is no party"));
  }
  return {};
}

Status validate(const MailboxRecord& r) {
  SPILLWAY_TRY(at("contract", check_contract_id(r.contract.text)));
  int64_t last = 0;
  for (size_t i = 0; i < r.posted.size(); ++i) {
    const Posted& posted = r.posted[i];
    SPILLWAY_TRY(under("posted", i, check_range("sequence", posted.sequence, last + 1, k_most)));
    SPILLWAY_TRY(under("posted", i, check_range("bytes", posted.bytes, 0, k_most)));
    SPILLWAY_TRY(under("posted", i, check_time("expires", posted.expires)));
    last = posted.sequence;
  }
  return check_time("forget_at", r.forget_at);
}

Status validate(const MessageRecord& r) {
  SPILLWAY_TRY(at("contract", check_contract_id(r.contract.text)));
  SPILLWAY_TRY(check_range("sequence", r.sequence, 1, k_most));
  if (r.envelope.empty()) return refuse("envelope", "it is empty");
  return check_time("expires", r.expires);
}

Status validate(const Event& event) {
  SPILLWAY_TRY(check_range("sequence", event.sequence, 0, k_most));
  return check_time("at", event.at);
}

namespace {

template <class T>
Result<Record> decode_as(std::string_view text, std::string_view what) {
  auto record = model::read_json<T>(text, what);
  if (!record) return tl::unexpected(std::move(record).error());
  return Record(std::make_shared<const T>(std::move(*record)));
}

struct Encode {
  std::string operator()(const std::monostate&) const {
    broken_invariant("an absent record has no text", __FILE__, __LINE__);
  }
  template <class T>
  std::string operator()(const Shared<T>& record) const {
    return model::write_json(*record);
  }
};

}  // namespace

std::string encode(const Record& record) { return std::visit(Encode(), record); }

Result<Record> decode(Kind kind, std::string_view text) {
  switch (kind) {
    case Kind::pool:
      return decode_as<PoolRecord>(text, "pool row");
    case Kind::offer:
      return decode_as<OfferRecord>(text, "offer row");
    case Kind::account:
      return decode_as<AccountRecord>(text, "account row");
    case Kind::contract:
      return decode_as<model::Contract>(text, "contract row");
    case Kind::request:
      return decode_as<RequestRecord>(text, "request row");
    case Kind::epoch:
      return decode_as<EpochRecord>(text, "epoch row");
    case Kind::heart:
      return decode_as<HeartRecord>(text, "heart row");
    case Kind::identity:
      return decode_as<model::Identity>(text, "identity row");
    case Kind::token:
      return decode_as<TokenRecord>(text, "token row");
    case Kind::card:
      return decode_as<CardRecord>(text, "card row");
    case Kind::liqo:
      return decode_as<LiqoRecord>(text, "liqo row");
    case Kind::agreement:
      return decode_as<AgreementRecord>(text, "agreement row");
    case Kind::mailbox:
      return decode_as<MailboxRecord>(text, "mailbox row");
    case Kind::message:
      return decode_as<MessageRecord>(text, "message row");
  }
  return fail(Code::internal, "row", "it is of no known kind");
}

std::string encode(const Event& event) { return model::write_json(event); }

Result<Event> decode_event(std::string_view text) { return model::read_json<Event>(text, "event"); }

}  // namespace spillway::market
