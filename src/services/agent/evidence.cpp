#include "services/agent/evidence.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "services/agent/dispute.h"

namespace spillway::agent {
namespace {

using Kind = model::ContractEventKind;
using model::Contract;
using model::ContractState;
using model::EndReason;

tl::unexpected<Error> refuse_evidence(const ContractId& contract, std::string reason) {
  return fail(Code::denied, "contract " + contract.text, std::move(reason),
              "do not rely on it; ask the broker's operator where it comes from");
}

tl::unexpected<Error> refuse_evidence(const ContractId& contract, std::string_view what,
                                      const Error& why) {
  return refuse_evidence(contract,
                         fmt::format("{} is not as it was signed: {}", what, why.message()));
}

std::string mends_paper(const ContractId& id) {
  return fmt::format(
      "spillway contracts show {} --verify sets it aside, and keeps what the broker can prove",
      id.text);
}

Status take_card(const std::string& document, const ContractId& contract, const ClusterId& owner,
                 const Self& self, std::optional<pki::VerifiedCard>& card) {
  if (document.empty()) return {};
  auto verified = pki::verify_card(document);
  if (!verified) {
    return refuse_evidence(contract, fmt::format("the card of {}", owner.text), verified.error());
  }
  if (verified->card.cluster != owner || verified->card.federation != self.federation) {
    return refuse_evidence(contract,
                           fmt::format("the card shown for {} is one of {} in {}", owner.text,
                                       verified->card.cluster.text, verified->card.federation));
  }
  card = std::move(*verified);
  return {};
}

Status take_agreement(const wire::AgreementAnswer& told, const Self& self, Evidence& evidence) {
  const ContractId& id = evidence.row.id;
  if (told.document.empty()) {
    if (evidence.row.agreement.empty()) return {};
    return refuse_evidence(id, "it is called signed, and what was signed is not shown");
  }
  auto agreement = pki::verify_agreement(told.document,
                                         told.complete ? pki::Signers::both : pki::Signers::buyer);
  if (!agreement) return refuse_evidence(id, "the agreement", agreement.error());
  if (agreement->agreement.hold != id) {
    return refuse_evidence(id,
                           "the agreement shown is on contract " + agreement->agreement.hold.text);
  }
  if (agreement->agreement.federation != self.federation) {
    return refuse_evidence(
        id, "the agreement is of federation " + in_quotes(agreement->agreement.federation));
  }
  if (agreement->id != evidence.row.agreement) {
    return refuse_evidence(id, "the agreement shown is not the one that the row names");
  }
  evidence.agreement = std::move(*agreement);
  evidence.complete = told.complete;
  return {};
}

Status check_event(const model::ContractEvent& event, const pki::VerifiedAgreement& agreement) {
  const ContractId& id = agreement.agreement.hold;
  const auto refuse = [&](std::string_view reason) {
    return refuse_evidence(id,
                           fmt::format("event {} of {}: {}", event.number, event.by.text, reason));
  };
  if (event.agreement != agreement.id || event.hold != id) {
    return refuse("it is of another contract");
  }
  const bool by_buyer = event.by == agreement.agreement.buyer.cluster;
  if (!by_buyer && event.by != agreement.agreement.provider.cluster) {
    return refuse("it is by nobody who is a party");
  }
  const model::Signatory& side =
      by_buyer ? agreement.agreement.buyer : agreement.agreement.provider;
  if (event.key != side.key) return refuse("it is signed by another key than the agreement's");
  if (!may_say(event.kind, by_buyer)) {
    return refuse(fmt::format("a {} is not for this side to say", to_text(event.kind)));
  }
  return {};
}

Status take_events(std::span<const std::string> documents, const pki::VerifiedAgreement& agreement,
                   std::vector<pki::VerifiedEvent>& events) {
  const ContractId& id = agreement.agreement.hold;
  std::set<std::pair<ClusterId, int64_t>> seen;
  for (const std::string& document : documents) {
    auto event = pki::verify_event(document);
    if (!event) return refuse_evidence(id, "an event", event.error());
    SPILLWAY_TRY(check_event(event->event, agreement));
    if (!seen.emplace(event->event.by, event->event.number).second) {
      return refuse_evidence(id, fmt::format("event {} of {} is shown twice", event->event.number,
                                             event->event.by.text));
    }
    events.push_back(std::move(*event));
  }
  return {};
}

// ---- what a provider signs ----

Status check_own_offer(const model::Agreement& agreement, const model::Offer* offer) {
  const std::string thing = "contract " + agreement.hold.text;
  const auto refuse = [&](std::string_view what) {
    return fail(Code::conflict, thing,
                fmt::format("its {} is not the one of our offer {}", what, agreement.offer.text),
                "let it expire; the buyer may hold anew");
  };
  if (offer == nullptr) {
    return fail(Code::conflict, thing, fmt::format("we do not offer {}", agreement.offer.text),
                "let it expire");
  }
  if (offer->pool != agreement.pool) return refuse("pool");
  if (offer->shape != agreement.shape) return refuse("shape");
  if (offer->price != agreement.price) return refuse("price");
  if (offer->terms != static_cast<const model::Terms&>(agreement.terms)) return refuse("terms");
  const model::Visibility& sees = offer->visibility;
  const bool is_named = std::find(sees.clusters.begin(), sees.clusters.end(),
                                  agreement.buyer.cluster) != sees.clusters.end();
  // Labels are the operator's to give, so those are the broker's to judge.
  if (!sees.everyone && !is_named && sees.selector.empty()) {
    return fail(Code::denied, thing,
                fmt::format("our offer {} is not for {}", agreement.offer.text,
                            agreement.buyer.cluster.text),
                "let it expire");
  }
  return {};
}

// The part of the back end must be between the Liqo clusters that the cards show.
Status check_liqo_part(const model::Agreement& agreement, const model::Card& buyer,
                       const model::Card& own) {
  const auto& liqo = agreement.fabric.liqo;
  if (!liqo || (liqo->buyer == buyer.liqo && liqo->provider == own.liqo)) return {};
  return fail(Code::conflict, "contract " + agreement.hold.text,
              "it names other Liqo clusters than the cards", "let it expire");
}

}  // namespace

Result<Evidence> weigh(const wire::AgreementAnswer& told, const ContractId& asked,
                       const Self& self) {
  Evidence evidence;
  evidence.row = told.contract;
  const Contract& row = evidence.row;
  if (row.id != asked) {
    return refuse_evidence(asked, "the broker told of contract " + row.id.text + " instead");
  }
  if (row.buyer != self.cluster && row.provider != self.cluster) {
    return refuse_evidence(asked, "we are no party of it");
  }
  SPILLWAY_TRY(take_card(told.buyer_card, asked, row.buyer, self, evidence.buyer));
  SPILLWAY_TRY(take_card(told.provider_card, asked, row.provider, self, evidence.provider));
  SPILLWAY_TRY(take_agreement(told, self, evidence));
  if (evidence.agreement) {
    SPILLWAY_TRY(take_events(told.events, *evidence.agreement, evidence.events));
  } else if (!told.events.empty()) {
    return refuse_evidence(asked, "events are shown of what nobody signed");
  }
  return evidence;
}

Result<Agreed> read_paper(const Paper& paper) {
  const auto damaged = [&](std::string reason) {
    return fail(Code::invalid, "our copy of contract " + paper.contract.text, std::move(reason),
                mends_paper(paper.contract));
  };
  auto agreement = pki::verify_agreement(paper.document,
                                         paper.complete ? pki::Signers::both : pki::Signers::buyer);
  if (!agreement) return damaged("it is not as it was signed: " + agreement.error().message());
  if (agreement->id != paper.agreement || agreement->agreement.hold != paper.contract) {
    return damaged("what was signed in it is of another contract");
  }
  Agreed agreed{std::move(*agreement), paper.complete, {}};
  std::vector<std::string> documents;
  for (const PaperEvent& event : paper.events) documents.push_back(event.document);
  if (const Status events = take_events(documents, agreed.agreement, agreed.events); !events) {
    return damaged(events.error().reason);
  }
  return agreed;
}

Result<Paper> kept_paper(std::string_view text, const std::string& source, const ContractId& id) {
  const auto damaged = [&](std::string reason) {
    return fail(Code::invalid, source, std::move(reason), mends_paper(id));
  };
  auto paper = paper_from_json(text, {});
  if (!paper) {
    const Error& error = paper.error();  // of a place in it, which stands last
    const size_t place = std::min(error.thing.find_first_not_of(' '), error.thing.size());
    return damaged(error.reason + " (" + error.thing.substr(place) + ")");
  }
  if (paper->contract != id) return damaged("it is of contract " + paper->contract.text);
  if (const auto agreed = read_paper(*paper); !agreed) return damaged(agreed.error().reason);
  return paper;
}

Paper paper_of(const Evidence& evidence, Instant now) {
  Paper paper = paper_of(*evidence.agreement, evidence.complete, now);
  for (const pki::VerifiedEvent& event : evidence.events) paper.events.push_back(event_of(event));
  if (evidence.buyer) paper.buyer_card = evidence.buyer->document;
  if (evidence.provider) paper.provider_card = evidence.provider->document;
  if (!evidence.row.is_live()) paper.ended = now;
  return paper;
}

bool may_say(Kind kind, bool is_buyer) {
  if (kind == Kind::drained) return true;
  const bool is_buyers = kind == Kind::extension || kind == Kind::renewal ||
                         kind == Kind::release || kind == Kind::purchase;
  return is_buyers == is_buyer;
}

Status check_card(const model::Signatory& side, const model::Card& card) {
  if (side.cluster == card.cluster && side.key == card.key && side.sealing == card.sealing &&
      side.card == card.number) {
    return {};
  }
  return fail(Code::conflict, "card of " + card.cluster.text,
              "what was signed names other keys than it",
              "let the contract expire; the buyer may look at the cards and hold anew");
}

Status check_to_countersign(const Evidence& evidence, const Self& self, const model::Card& own,
                            const model::Offer* offer, Instant now) {
  const Contract& row = evidence.row;
  const std::string thing = "contract " + row.id.text;
  const model::Agreement& agreement = evidence.agreement->agreement;
  if (agreement.provider.cluster != self.cluster) {
    return fail(Code::denied, thing, "it is not ours to sell", "let it expire");
  }
  if (const auto what = difference(agreement, row); !what.empty()) {
    return fail(Code::conflict, thing, fmt::format("what its buyer signed differs in: {}", what),
                "let it expire");
  }
  SPILLWAY_TRY(check_own_offer(agreement, offer));
  SPILLWAY_TRY(check_card(agreement.provider, own));
  if (!evidence.buyer) {
    return fail(Code::denied, thing, fmt::format("{} shows no card", row.buyer.text),
                "let it expire");
  }
  SPILLWAY_TRY(check_card(agreement.buyer, evidence.buyer->card));
  SPILLWAY_TRY(check_liqo_part(agreement, evidence.buyer->card, own));
  const Instant sign_by = signed_sign_by({*evidence.agreement, false, evidence.events});
  if (sign_by > now) return {};
  return fail(Code::gone, thing,
              fmt::format("its buyer's signature was good until {}", to_text(sign_by)),
              "let it expire; look at the clocks if this happens often");
}

}  // namespace spillway::agent
