#include "services/agent/agreements.h"

#include <algorithm>

#include "supply/sold.h"

namespace spillway::agent {
namespace {

using model::Contract;
using model::ContractState;
using services::Level;

constexpr size_t k_most_disputes = 1000;  // that are counted; all are told
// Holds are looked at again while they live: an operator may change a pin meanwhile.
constexpr Duration k_refusal_again = seconds(10);

bool is_to_countersign(const Contract& contract, const ClusterId& self) {
  return contract.provider == self && contract.state == ContractState::hold &&
         !contract.agreement.empty();
}

// Nothing of what was signed tells of any other change.
bool says_the_same(const Contract& a, const Contract& b) {
  return a.state == b.state && a.agreement == b.agreement && a.deadline == b.deadline &&
         a.reason == b.reason && a.live_units() == b.live_units() && a.rate == b.rate &&
         a.shape == b.shape && a.terms == b.terms && a.started == b.started && a.units == b.units;
}

}  // namespace

void Agreements::start() { show_card(); }

void Agreements::show_card() {
  if (context_.signing == nullptr) return;
  context_.signing->forget_card();
  is_card_shown_ = false;
  card_.due = context_.now();
  context_.wake_by(context_.now());
}

void Agreements::seen(const Contract& contract) {
  if (context_.signing == nullptr) return;
  const auto known = looks_.find(contract.id);
  const bool was_signed = known != looks_.end();
  // Of what has ended both copies may lack the end; of what never began there is nothing to keep.
  const bool never_began = !contract.is_live() && !contract.started;
  if (!was_signed && (contract.agreement.empty() || never_began)) return;
  if (was_signed && says_the_same(known->second.row, contract)) return;
  Look& look = looks_[contract.id];
  look.row = contract;
  look.is_due = true;
  if (!look.attempt.in_flight) look.attempt.due = context_.now();
  context_.wake_by(context_.now());
}

Instant Agreements::step() {
  if (context_.signing == nullptr) return k_never;
  const Instant now = context_.now();
  Instant next = k_never;
  if (!is_card_shown_ && card_.is_due(now, host::k_refused_wait)) {
    card_.in_flight = true;
    const auto liqo = context_.options.liqo;
    context_.signing->show_card(liqo, life_.guard([this, liqo](const Result<model::Card>& shown) {
      card_.in_flight = false;
      // Who we are to Liqo may have become known meanwhile.
      is_card_shown_ = shown && liqo == context_.options.liqo;
      if (shown) card_.succeed();
      if (!shown) card_.fail(context_, "card not shown", shown.error());
      if (!is_card_shown_) context_.wake_by(shown ? context_.now() : card_.due);
    }));
  } else if (!is_card_shown_ && !card_.in_flight) {
    next = card_.due;
  }
  for (auto& [id, look] : looks_) {
    if (!look.is_due || look.attempt.in_flight) continue;
    if (!look.attempt.is_due(now, host::k_refused_wait)) {
      next = std::min(next, look.attempt.due);
    } else if (in_flight_ < k_most_in_flight) {
      begin(id, look);
    }
  }
  return next;
}

Signing::Sales Agreements::sales() {
  Signing::Sales sales;
  sales.offer = [this](const OfferId& offer) -> const model::Offer* {
    const auto& offers = context_.state().offers;
    const auto at = offers.find(offer);
    const bool stands = at != offers.end() && at->second.published && !at->second.withdrawn;
    return stands ? &*at->second.published : nullptr;
  };
  sales.cover = [this](const Contract& contract) { return check_cover(contract); };
  return sales;
}

// Cover is the broker's to keep. One that sells what is sold already gets no signature of ours.
Status Agreements::check_cover(const Contract& wanted) {
  const auto pool = context_.state().pools.find(wanted.pool);
  const bool stands =
      pool != context_.state().pools.end() && pool->second.published && !pool->second.withdrawn;
  model::Resources used = wanted.taken();
  for (const auto& [id, contract] : context_.state().contracts) {
    const bool is_signed = contract.started.has_value() || pledged_.contains(id);
    if (contract.pool != wanted.pool || id == wanted.id || !is_signed) continue;
    if (contract.provider != context_.options.cluster) continue;
    supply::add_capped(used, contract.taken());
  }
  if (stands && pool->second.published->capacity.covers(used)) {
    pledged_.insert(wanted.id);
    return {};
  }
  return fail(
      Code::taken, "contract " + wanted.id.text,
      fmt::format("our pool {} has no room for it beside what is signed already", wanted.pool.text),
      "let it expire, and ask the broker's operator why it was sold");
}

void Agreements::begin(const ContractId& id, Look& look) {
  look.attempt.in_flight = true;
  look.is_due = false;
  in_flight_ += 1;
  const Contract row = look.row;
  if (is_to_countersign(row, context_.options.cluster)) {
    return context_.signing->countersign(id, sales(),
                                         life_.guard([this, id, row](const Result<Contract>& told) {
                                           on_countersigned(id, row, told);
                                         }));
  }
  context_.signing->collect(id, life_.guard([this, id, row](const Result<Signing::Known>& known) {
    on_collected(id, row, known);
  }));
}

Agreements::Look* Agreements::done(const ContractId& id) {
  in_flight_ -= 1;
  context_.wake_by(context_.now());
  const auto found = looks_.find(id);
  if (found == looks_.end()) return nullptr;
  found->second.attempt.in_flight = false;
  return &found->second;
}

// Of what has ended nothing more will be heard.
void Agreements::settle(const ContractId& id, const Contract& row) {
  const auto found = looks_.find(id);
  if (found == looks_.end()) return;
  found->second.attempt.succeed();
  if (row.state != ContractState::hold) pledged_.erase(id);
  if (!row.is_live() && !found->second.is_due) looks_.erase(found);
}

void Agreements::try_again(Look& look, std::string_view what, const Error& error) {
  look.is_due = true;
  // What is wrong may be a key, or a card: of which contract it was, is for us to say.
  Error named = error;
  if (named.thing.find(look.row.id.text) == std::string::npos) {
    named.thing = fmt::format("contract {}, {}", look.row.id.text, named.thing);
  }
  look.attempt.fail(context_, what, named, k_refusal_again);
  look.attempt.due = std::min(look.attempt.due, context_.now() + k_refusal_again);
  context_.wake_by(look.attempt.due);
}

void Agreements::on_countersigned(const ContractId& id, const Contract& row,
                                  const Result<Contract>& told) {
  Look* look = done(id);
  if (look == nullptr) return;
  if (!told) {
    const Code code = told.error().code;
    const bool is_refusal = code != Code::unavailable && code != Code::contended;
    if (is_refusal && !std::exchange(look->is_refused, true)) refused_ += 1;
    return try_again(*look, is_refusal ? "agreement refused" : "agreement not signed",
                     told.error());
  }
  look->attempt.succeed();
  if (told->id != id) return;
  if (told->state == ContractState::active) {
    countersigned_ += 1;
    context_.log.write(
        Level::info, "contract signed",
        {{"contract", id.text}, {"buyer", row.buyer.text}, {"agreement", told->agreement}});
  }
  calls_.changed(*told);
}

void Agreements::on_collected(const ContractId& id, const Contract& row,
                              const Result<Signing::Known>& known) {
  Look* look = done(id);
  if (look == nullptr) return;
  if (known) {
    note_dispute(id, known->dispute);
    if (known->paper) calls_.verified(id, *known->paper);
    return settle(id, row);
  }
  const Code code = known.error().code;
  const bool is_refused = code == Code::denied || code == Code::conflict || code == Code::invalid;
  // Of what is over nothing better will be shown; of what never began there is nothing to dispute.
  if (!row.is_live() && (is_refused || code == Code::not_found)) return settle(id, row);
  // What cannot be verified is claimed, and no more.
  if (is_refused && row.started) note_dispute(id, known.error().reason);
  try_again(*look, "what was signed is not to be had", known.error());
}

void Agreements::note_dispute(const ContractId& id, const std::string& why) {
  const auto known = disputes_.find(id);
  if (why.empty()) {
    if (known == disputes_.end()) return;
    disputes_.erase(known);
    context_.log.write(Level::info, "contract no longer disputed", {{"contract", id.text}});
    return;
  }
  if (known != disputes_.end() && known->second == why) return;
  if (known != disputes_.end() || disputes_.size() < k_most_disputes) disputes_[id] = why;
  context_.log.write(Level::error, "contract disputed", {{"contract", id.text}, {"why", why}});
}

}  // namespace spillway::agent
