#include "services/agent/paper.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/agreement_fields.h"
#include "model/validation.h"

namespace spillway::agent {

template <class F>
void fields(F& f, PaperEvent& event) {
  f.required("by", event.by);
  f.required("number", event.number);
  f.required("kind", event.kind);
  f.required("document", event.document);
}

template <class F>
void fields(F& f, Paper& paper) {
  f.required("contract", paper.contract);
  f.required("agreement", paper.agreement);
  f.required("buyer", paper.buyer);
  f.required("provider", paper.provider);
  f.required("document", paper.document);
  f.with_default("complete", paper.complete);
  f.with_default("events", paper.events);
  f.with_default("buyer_card", paper.buyer_card);
  f.with_default("provider_card", paper.provider_card);
  f.required("since", paper.since);
  f.optional("ended", paper.ended);
}

namespace {

using Kind = model::ContractEventKind;

std::set<int32_t> units_in(const PaperEvent& event) {
  std::set<int32_t> units;
  const auto verified = pki::verify_event(event.document);
  if (!verified) return units;
  for (const model::MeteredUse& use : verified->event.used) units.insert(use.unit);
  units.insert(verified->event.units.begin(), verified->event.units.end());
  return units;
}

// Whether `newer` says all that `older` said, if it is newer.
bool says_all_of(const PaperEvent& newer, const PaperEvent& older) {
  if (newer.by != older.by || newer.kind != older.kind) return false;
  if (newer.kind == Kind::renewal || newer.kind == Kind::extension) return true;
  // One that was refused is signed again for the same units; one that was taken is not.
  if (newer.kind == Kind::purchase) return units_in(newer) == units_in(older);
  if (newer.kind != Kind::usage) return false;
  const std::set<int32_t> now = units_in(newer);
  const std::set<int32_t> then = units_in(older);
  return std::includes(now.begin(), now.end(), then.begin(), then.end());
}

// A release ends something, so there are no more of them than units: neither they nor what the
// other side has signed may keep anybody from giving back.
size_t bounded_events(const Paper& paper) {
  return static_cast<size_t>(
      std::count_if(paper.events.begin(), paper.events.end(),
                    [](const PaperEvent& kept) { return kept.kind != Kind::release; }));
}

Status add(Paper& paper, const PaperEvent& event) {
  for (const PaperEvent& kept : paper.events) {
    if (kept.by != event.by || kept.number != event.number) continue;
    if (kept.document == event.document) return {};
    return fail(
        Code::contended, "paper of contract " + paper.contract.text,
        fmt::format("event {} of {} is kept, and says something else", event.number, event.by.text),
        "sign with a number that was not used");
  }
  const bool is_old =
      std::any_of(paper.events.begin(), paper.events.end(), [&](const PaperEvent& kept) {
        return kept.number > event.number && says_all_of(kept, event);
      });
  if (is_old) return {};
  std::erase_if(paper.events, [&](const PaperEvent& kept) { return says_all_of(event, kept); });
  if (event.kind != Kind::release && bounded_events(paper) >= Paper::k_most_events) {
    return fail(Code::conflict, "paper of contract " + paper.contract.text,
                fmt::format("it has {} events, and that is the most", Paper::k_most_events),
                "release it, or let its lease end");
  }
  const auto place = std::upper_bound(paper.events.begin(), paper.events.end(), event,
                                      [](const PaperEvent& a, const PaperEvent& b) {
                                        return std::tie(a.by, a.number) < std::tie(b.by, b.number);
                                      });
  paper.events.insert(place, event);
  return {};
}

}  // namespace

Paper paper_of(const pki::VerifiedAgreement& agreement, bool complete, Instant now) {
  Paper paper;
  paper.contract = agreement.agreement.hold;
  paper.agreement = agreement.id;
  paper.buyer = agreement.agreement.buyer.cluster;
  paper.provider = agreement.agreement.provider.cluster;
  paper.document = agreement.document;
  paper.complete = complete;
  paper.since = now;
  return paper;
}

PaperEvent event_of(const pki::VerifiedEvent& event) {
  return {event.event.by, event.event.number, event.event.kind, event.document};
}

int64_t last_number(const Paper& paper, const ClusterId& by) {
  int64_t last = 0;
  for (const PaperEvent& event : paper.events) {
    if (event.by == by) last = std::max(last, event.number);
  }
  return last;
}

Result<Paper> merged(const Paper& kept, const Paper& heard) {
  const bool is_other = kept.agreement != heard.agreement;
  if (is_other && kept.complete) {
    return fail(
        Code::conflict, "paper of contract " + kept.contract.text,
        fmt::format("{} was agreed, and {} is another agreement", kept.agreement, heard.agreement),
        "ask the broker's operator where that comes from");
  }
  // Half signed, and never taken: the other one counts.
  Paper next = is_other ? heard : kept;
  next.since = kept.since;
  if (!is_other && heard.complete && !kept.complete) {
    next.document = heard.document;
    next.complete = true;
  }
  if (next.buyer_card.empty()) next.buyer_card = heard.buyer_card;
  if (next.provider_card.empty()) next.provider_card = heard.provider_card;
  if (!next.ended) next.ended = heard.ended;
  for (const PaperEvent& event : heard.events) SPILLWAY_TRY(add(next, event));
  return next;
}

Status validate(const Paper& paper) {
  SPILLWAY_TRY(model::at("contract", check_contract_id(paper.contract.text)));
  SPILLWAY_TRY(model::check_key_fingerprint("agreement", paper.agreement));
  SPILLWAY_TRY(model::at("buyer", check_cluster_id(paper.buyer.text)));
  return model::at("provider", check_cluster_id(paper.provider.text));
}

std::string to_json(const Paper& paper) { return model::write_json(paper); }

Result<Paper> paper_from_json(std::string_view text, std::string_view source) {
  return model::read_json<Paper>(text, source);
}

}  // namespace spillway::agent
