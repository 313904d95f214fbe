#include "market/signing.h"

#include <algorithm>

#include "base/text.h"
#include "market/account.h"
#include "market/lease.h"
#include "market/mutants.h"
#include "market/outage.h"
#include "market/transitions.h"

namespace spillway::market {
namespace {

using model::Contract;
using model::ContractEventKind;
using model::ContractState;

tl::unexpected<Error> refuse_signed(const Contract& contract, std::string reason,
                                    std::string next) {
  return fail(Code::conflict, "contract " + contract.id.text, std::move(reason), std::move(next));
}

// What is signed must be by the keys that the cards show now: a card of before another key, or of
// somebody who was revoked, is nobody's.
Status check_side(Workspace& workspace, const Contract& contract, const model::Signatory& side,
                  std::string_view word) {
  const auto* record = workspace.find<CardRecord>(card_key(side.cluster));
  SPILLWAY_TRY(check_not_revoked(workspace, side.cluster));
  if (record == nullptr) {
    return refuse_signed(contract, fmt::format("{} has no card", side.cluster.text),
                         "let its agent show one first");
  }
  const model::Card& card = record->card;
  if (card.key == side.key && card.sealing == side.sealing && card.number == side.card) return {};
  return refuse_signed(
      contract, fmt::format("what was signed names other keys of the {} than its card", word),
      "look at the cards again and sign with them");
}

Status check_fabric(Workspace& workspace, const Contract& contract,
                    const model::Agreement& agreement) {
  const auto& liqo = agreement.fabric.liqo;
  if (!liqo) return {};
  const auto* buyer = workspace.find<CardRecord>(card_key(contract.buyer));
  const auto* provider = workspace.find<CardRecord>(card_key(contract.provider));
  if (buyer == nullptr || provider == nullptr) return {};  // check_side has said so
  if (buyer->card.liqo == liqo->buyer && provider->card.liqo == liqo->provider) return {};
  return refuse_signed(contract, "what was signed names other Liqo clusters than the cards",
                       "look at the cards again and sign with them");
}

// Of one contract, as they were signed. Whoever reads often in ever other combinations of units
// would make a row of it that nobody can read, and a paper that fills its buyer's disk.
constexpr size_t k_most_usage_bytes = size_t{1} << 20;

bool replaces(const KeptEvent& kept, const model::ContractEvent& event) {
  using Kind = ContractEventKind;
  if (kept.kind != event.kind || kept.by != event.by) return false;
  if (event.kind == Kind::renewal || event.kind == Kind::extension) return true;
  return event.kind == Kind::usage &&
         std::all_of(kept.units.begin(), kept.units.end(), [&](int32_t unit) {
           return std::any_of(event.used.begin(), event.used.end(),
                              [&](const model::MeteredUse& use) { return use.unit == unit; });
         });
}

// Who was revoked and joined anew is told that what it held is over, and has forgotten it: its old
// signature binds it no more.
Status check_still_member(Workspace& workspace, const Contract& contract) {
  const auto* buyer = workspace.find<model::Identity>(identity_key(contract.buyer.text));
  const bool is_over =
      contract.state == ContractState::hold && buyer != nullptr && buyer->since > contract.created;
  if (!is_over) return {};
  return fail(
      Code::gone, "contract " + contract.id.text,
      fmt::format("its buyer has joined anew at {}, after it held it", to_text(buyer->since)),
      "let it expire");
}

// With the newest one, which alone is always taken: there is no less of it to be had.
Status check_usage_room(const Contract& contract, const std::vector<KeptEvent>& events) {
  size_t count = 0;
  size_t bytes = 0;
  for (const KeptEvent& kept : events) {
    if (kept.kind != ContractEventKind::usage) continue;
    count += 1;
    bytes += kept.document.size();
  }
  if (count <= 1 || bytes <= k_most_usage_bytes) return {};
  return refuse_signed(
      contract, fmt::format("{} readings with {} bytes are signed already", count - 1, bytes),
      fmt::format("read all units that live at once, which takes the place of what was read of "
                  "them before; at most {} bytes are kept",
                  k_most_usage_bytes));
}

Status check_event(const Contract& contract, const AgreementRecord& agreement, const ClusterId& by,
                   ContractEventKind kind, const model::ContractEvent& event) {
  if (event.agreement != contract.agreement || event.hold != contract.id) {
    return refuse_signed(contract, "the event that was signed is of another contract",
                         "sign one for this contract");
  }
  const std::string& key = by == agreement.buyer ? agreement.buyer_key : agreement.provider_key;
  if (event.by != by || event.key != key) {
    return refuse_signed(
        contract,
        fmt::format("the event is not signed by {} with the key of the agreement", by.text),
        "sign it with the key that signed the agreement");
  }
  if (event.kind != kind) {
    return refuse_signed(
        contract,
        fmt::format("what was signed is a {}, not a {}", to_text(event.kind), to_text(kind)),
        "sign what you ask for");
  }
  for (const KeptEvent& kept : agreement.events) {
    if (kept.by != by || kept.number < event.number) continue;
    return refuse_signed(contract,
                         fmt::format("event {} of {} was heard before", event.number, by.text),
                         fmt::format("sign it with a number above {}", kept.number));
  }
  return {};
}

}  // namespace

Status check_agreement(Workspace& workspace, const Contract& contract,
                       const SignedAgreement& signed_by_buyer, Instant now) {
  const model::Agreement& agreement = signed_by_buyer.agreement;
  if (const auto what = difference(agreement, contract);
      !what.empty() && !mutant(Mutant::sign_anything)) {
    return refuse_signed(contract, fmt::format("what was signed differs from it in: {}", what),
                         "look at the contract again and sign that");
  }
  SPILLWAY_TRY(check_side(workspace, contract, agreement.buyer, "buyer"));
  SPILLWAY_TRY(check_side(workspace, contract, agreement.provider, "provider"));
  SPILLWAY_TRY(check_fabric(workspace, contract, agreement));
  const Instant deadline = effective_deadline(contract, current_epoch(workspace));
  if (agreement.sign_by > deadline) {
    return refuse_signed(contract,
                         fmt::format("it would be signed until {}, and is held until {}",
                                     to_text(agreement.sign_by), to_text(deadline)),
                         "sign it for as long as it is held, at most");
  }
  if (agreement.sign_by > now) return {};
  return fail(Code::gone, "contract " + contract.id.text,
              fmt::format("the signature was good until {}", to_text(agreement.sign_by)),
              "hold anew");
}

Status check_may_be_unsigned(Workspace& workspace, const Contract& contract) {
  const auto* buyer = workspace.find<CardRecord>(card_key(contract.buyer));
  const auto* provider = workspace.find<CardRecord>(card_key(contract.provider));
  if (buyer == nullptr || provider == nullptr) return {};
  return refuse_signed(contract, "both sides have cards, so both must sign it",
                       "confirm it with a signature; an agent of this release does");
}

Status take_event(Workspace& workspace, const Contract& contract, const ClusterId& by,
                  ContractEventKind kind, const std::optional<SignedEvent>& event) {
  if (contract.agreement.empty()) {
    if (!event) return {};
    return refuse_signed(contract, "nobody has signed it, so there is nothing to refer to",
                         "ask without a signature");
  }
  const auto* known = workspace.find<AgreementRecord>(agreement_key(contract.id));
  if (known == nullptr) return {};  // not loaded yet: it is never deleted
  if (!event) {
    return refuse_signed(contract, "it is signed, and so must be what is done under it",
                         fmt::format("sign a {} for it", to_text(kind)));
  }
  const bool is_known = std::any_of(
      known->events.begin(), known->events.end(),
      [&](const KeptEvent& kept) { return kept.kind == kind && kept.document == event->document; });
  if (is_known) return {};  // its answer was lost
  if (!mutant(Mutant::replay_events)) {
    SPILLWAY_TRY(check_event(contract, *known, by, kind, event->event));
  }
  AgreementRecord next = *known;
  std::erase_if(next.events, [&](const KeptEvent& kept) { return replaces(kept, event->event); });
  KeptEvent kept{by, event->event.number, kind, event->document};
  for (const model::MeteredUse& use : event->event.used) kept.units.push_back(use.unit);
  next.events.push_back(std::move(kept));
  if (kind == ContractEventKind::usage) SPILLWAY_TRY(check_usage_room(contract, next.events));
  if (kind == ContractEventKind::extension) {
    next.sign_by = std::max(next.sign_by, *event->event.until);
  }
  workspace.put(agreement_key(contract.id), std::move(next));
  return {};
}

Result<Answer> run(Workspace& workspace, const PutCard& command, const Context& context) {
  const model::Card& card = command.card;
  SPILLWAY_TRY(validate(card));
  SPILLWAY_TRY(check_not_revoked(workspace, card.cluster));
  const std::string thing = "card of " + card.cluster.text;
  const auto* identity = workspace.find<model::Identity>(identity_key(card.cluster.text));
  if (identity == nullptr) return not_enrolled(card.cluster);
  if (identity->key != command.key) {
    return fail(Code::denied, thing, "it is signed by another key than the member's",
                "sign it with the key of your certificate");
  }
  const auto* present = workspace.find<CardRecord>(card_key(card.cluster));
  if (present != nullptr && present->card == card) return Answer{};
  // A key that was stolen must not use up the numbers of the one that took its place.
  const bool same_key = present != nullptr && present->card.key == card.key;
  if (same_key && card.number <= present->card.number) {
    return fail(
        Code::conflict, thing,
        fmt::format("number {} is not above {}, which it has", card.number, present->card.number),
        "give another content a higher number");
  }
  if (!card.liqo.empty()) {
    const auto* owner = workspace.find<LiqoRecord>(liqo_key(card.liqo));
    if (owner != nullptr && owner->cluster != card.cluster && !mutant(Mutant::share_liqo)) {
      return fail(Code::conflict, thing,
                  fmt::format("the Liqo id {} belongs to another cluster", in_quotes(card.liqo)),
                  "give your cluster an id of its own in Liqo");
    }
    if (owner == nullptr) workspace.put(liqo_key(card.liqo), LiqoRecord{card.liqo, card.cluster});
  }
  // One at a time: whoever could keep all that it ever showed would keep others from theirs.
  if (present != nullptr && !present->card.liqo.empty() && present->card.liqo != card.liqo &&
      workspace.find<LiqoRecord>(liqo_key(present->card.liqo)) != nullptr) {
    workspace.erase(liqo_key(present->card.liqo));
  }
  workspace.put(card_key(card.cluster), CardRecord{card, command.document});
  workspace.emit({.sequence = 0,
                  .at = context.now,
                  .kind = EventKind::card_published,
                  .subject = card.cluster.text,
                  .pool = {},
                  .provider = card.cluster,
                  .buyer = {},
                  .detail = fmt::format("number {}", card.number)});
  return Answer{};
}

Result<Answer> run(Workspace& workspace, const Countersign& command, const Context& context) {
  auto found = contract_of(workspace, command.provider, Side::provider, command.contract);
  if (!found) return tl::unexpected(std::move(found).error());
  Contract& contract = *found;
  SPILLWAY_TRY(check_not_revoked(workspace, contract.provider));
  SPILLWAY_TRY(check_not_revoked(workspace, contract.buyer));
  SPILLWAY_TRY(check_still_member(workspace, contract));
  const auto* known = workspace.find<AgreementRecord>(agreement_key(contract.id));
  const bool is_same = contract.agreement == command.agreement.id;
  if (contract.state == ContractState::active && is_same) return answer_with(std::move(contract));
  SPILLWAY_TRY(check_is_hold(contract, current_epoch(workspace), context.now));
  if (contract.agreement.empty()) {
    return refuse_signed(contract, "its buyer has not signed it", "wait until it has");
  }
  if (!is_same) {
    return refuse_signed(contract, "its buyer has signed something else",
                         "sign what the buyer has signed, or nothing");
  }
  // Not loaded yet, or written after it was: it is never deleted.
  if (known == nullptr) return at_the_same_time(contract.id);
  if (known->sign_by <= context.now && !mutant(Mutant::sign_late)) {
    return fail(Code::gone, "contract " + contract.id.text,
                fmt::format("its buyer's signature was good until {}", to_text(known->sign_by)),
                "let it expire");
  }
  AgreementRecord next = *known;
  next.complete = true;
  next.document = command.agreement.document;
  workspace.put(agreement_key(contract.id), std::move(next));
  SPILLWAY_TRY(take_event(workspace, contract, contract.provider, ContractEventKind::accepted,
                          command.accepted));
  return activate(workspace, std::move(contract), context);
}

}  // namespace spillway::market
