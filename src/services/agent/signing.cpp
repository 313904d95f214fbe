#include "services/agent/signing.h"

#include <algorithm>
#include <utility>

#include "services/agent/dispute.h"

namespace spillway::agent {
namespace {

using model::Contract;
using model::ContractState;
using Kind = model::ContractEventKind;

// A signature is not left lying about for longer than any hold lives.
constexpr Duration k_longest_to_sign = hours(1);

Error not_signed_in_time(const Contract& contract) {
  return {Code::gone, "contract " + contract.id.text,
          fmt::format("it ended before its provider {} had signed it", contract.provider.text),
          "hold anew, or buy from another provider; its agent's log says why it did not sign"};
}

// A broker that came back from a backup may have forgotten it.
Status check_shown(const std::optional<pki::VerifiedCard>& shown, const model::Card& own) {
  if (shown && shown->card == own) return {};
  return fail(Code::unavailable, "card of " + own.cluster.text, "the broker does not show ours",
              "show it again");
}

Status check_own_side(const Evidence& evidence, const Signatory& self) {
  const model::Signatory& own = own_side(evidence.agreement->agreement, self.cluster());
  if (own.cluster == self.cluster() && own.key == self.key_text()) return {};
  return fail(Code::denied, "contract " + evidence.row.id.text,
              "what was signed names another key than ours, and there is no copy of it here",
              "if it is of before you joined anew, let it end; else ask the broker's operator");
}

}  // namespace

Signing::Signing(wire::BrokerClient client, Papers& papers, Signatory signatory,
                 std::function<Instant()> now)
    : client_(client), papers_(papers), signatory_(std::move(signatory)), now_(std::move(now)) {}

// ---- what is known ----

void Signing::look(const ContractId& id, Then<Seen> then) {
  client_.get_agreement(
      id,
      life_.guard([this, id, then = std::move(then)](const Result<wire::AgreementAnswer>& told) {
        if (!told) return then(tl::unexpected(told.error()));
        auto evidence = weigh(*told, id, self());
        if (!evidence) return then(tl::unexpected(std::move(evidence).error()));
        papers_.find(id, life_.guard([then, evidence = std::move(*evidence)](
                                         Result<std::optional<Paper>> paper) {
          if (paper) return then(Seen{evidence, std::move(*paper), {}});
          // Damaged: what the broker can prove takes its place.
          if (paper.error().code != Code::invalid) {
            return then(tl::unexpected(std::move(paper).error()));
          }
          then(Seen{evidence, std::nullopt, paper.error().message()});
        }));
      }));
}

// Its key must be the one that the agreement names, if there is one.
void Signing::believe(const std::optional<pki::VerifiedCard>& card, const model::Signatory* side,
                      Then<model::Trust> then) {
  if (!card) {
    return then(fail(Code::denied, side == nullptr ? "card" : "card of " + side->cluster.text,
                     "none is shown", "wait until its agent shows one"));
  }
  if (side != nullptr && side->key != card->card.key) {
    return then(fail(Code::denied, "card of " + card->card.cluster.text,
                     "its key is not the one that signed",
                     "let the contract end; what is signed from now on has the new key"));
  }
  papers_.believe({card->card.cluster, card->fingerprint, card->card.number}, now_(),
                  std::move(then));
}

void Signing::keep(const Seen& seen, const Then<Known>& then) {
  const Contract row = seen.evidence.row;
  papers_.keep(paper_of(seen.evidence, now_()), life_.guard([row, then](Result<Paper> paper) {
    if (!paper) return then(tl::unexpected(std::move(paper).error()));
    const auto agreed = read_paper(*paper);
    if (!agreed) return then(tl::unexpected(agreed.error()));
    then(Known{row, std::move(*paper), dispute(row, *agreed)});
  }));
}

// What is kept was believed before; of anything else, the other side's key must be believed now.
void Signing::keep_verified(const Seen& seen, Then<Known> then) {
  const Evidence& evidence = seen.evidence;
  if (!evidence.agreement) {
    if (!seen.damaged.empty()) {
      return then(Known{evidence.row, std::nullopt,
                        "it is called unsigned, and our copy is damaged: " + seen.damaged});
    }
    if (!seen.paper) return then(Known{evidence.row, std::nullopt, {}});
    const auto agreed = read_paper(*seen.paper);
    if (!agreed) return then(tl::unexpected(agreed.error()));
    return then(Known{evidence.row, seen.paper, dispute(evidence.row, *agreed)});
  }
  const bool is_kept = seen.paper && seen.paper->agreement == evidence.agreement->id;
  if (is_kept) return keep(seen, then);
  if (Status own = check_own_side(evidence, signatory_); !own) {
    return then(tl::unexpected(std::move(own).error()));
  }
  const model::Agreement& agreement = evidence.agreement->agreement;
  const bool is_buyer = agreement.buyer.cluster == signatory_.cluster();
  believe(is_buyer ? evidence.provider : evidence.buyer,
          is_buyer ? &agreement.provider : &agreement.buyer,
          life_.guard([this, seen, then = std::move(then)](const Result<model::Trust>& how) {
            if (how) return keep(seen, then);
            // Our own signature is on it: whatever is believed now, it is ours to give back.
            const bool is_ours = !seen.damaged.empty() && seen.evidence.complete;
            if (!is_ours) return then(tl::unexpected(how.error()));
            then(Known{seen.evidence.row, paper_of(seen.evidence, now_()), how.error().message()});
          }));
}

void Signing::collect(const ContractId& id, Then<Known> then) {
  look(id, [this, then = std::move(then)](const Result<Seen>& seen) {
    if (!seen) return then(tl::unexpected(seen.error()));
    keep_verified(*seen, then);
  });
}

void Signing::note_end(const ContractId& id) {
  papers_.find(id, life_.guard([this, id](const Result<std::optional<Paper>>& kept) {
    if (!kept || !*kept || (*kept)->ended) return;
    collect(id, [this, id](const Result<Known>& known) {
      if (known) return;  // and the row says whether it is over
      papers_.note_end(id, now_(), [](const Status&) {});
    });
  }));
}

// ---- the buyer ----

void Signing::sign(const ContractId& id, Check check, Then<Contract> then) {
  show_card(std::nullopt, life_.guard([this, id, check = std::move(check),
                                       then = std::move(then)](const Result<model::Card>& own) {
    if (!own) return then(tl::unexpected(own.error()));
    look(id, [this, card = *own, check, then](const Result<Seen>& seen) {
      if (!seen) return then(tl::unexpected(seen.error()));
      sign_seen(*seen, card, check, then);
    });
  }));
}

void Signing::sign_seen(const Seen& seen, const model::Card& own, const Check& check,
                        const Then<Contract>& then) {
  const Evidence& evidence = seen.evidence;
  const Contract& row = evidence.row;
  const std::string thing = "contract " + row.id.text;
  if (row.buyer != signatory_.cluster()) {
    return then(fail(Code::denied, thing, "it is another's to sign as the buyer", {}));
  }
  if (row.state == ContractState::closed && !row.started) {
    return papers_.note_end(row.id, now_(), life_.guard([row, then](const Status&) {
      then(tl::unexpected(not_signed_in_time(row)));
    }));
  }
  if (evidence.agreement || seen.paper || !seen.damaged.empty()) {
    // Signed before, perhaps by another process of ours: it must be what the row says.
    const bool waits = row.state == ContractState::hold && !evidence.agreement;
    if (!waits) {
      return keep_verified(seen, [row, thing, then](const Result<Known>& known) {
        if (!known) return then(tl::unexpected(known.error()));
        if (known->dispute.empty()) return then(row);
        then(fail(Code::denied, thing, known->dispute,
                  fmt::format("look at it: spillway contracts show {0} --verify; give it back: "
                              "spillway contracts release {0}",
                              row.id.text)));
      });
    }
  }
  if (row.state != ContractState::hold) return then(row);
  if (Status shown = check_shown(evidence.buyer, own); !shown) {
    own_.reset();
    return then(tl::unexpected(std::move(shown).error()));
  }
  if (Status wanted = check ? check(row) : Status(); !wanted) {
    return then(tl::unexpected(std::move(wanted).error()));
  }
  if (!evidence.provider) return sign_unsigned(seen, then);
  believe(evidence.provider, nullptr,
          life_.guard([this, seen, own, then](const Result<model::Trust>& how) {
            if (!how) return then(tl::unexpected(how.error()));
            sign_half(seen, own, *how, then);
          }));
}

// A broker that hides a card would have us buy without a signature.
void Signing::sign_unsigned(const Seen& seen, const Then<Contract>& then) {
  const Contract& row = seen.evidence.row;
  papers_.read_trust(life_.guard([this, row, then](const Result<TrustBook>& book) {
    if (!book) return then(tl::unexpected(book.error()));
    if (book->pins.contains(row.provider)) {
      return then(
          fail(Code::denied, "card of " + row.provider.text,
               "its key is pinned, and no card of it is shown",
               "wait until its agent shows one; if it signs no more: spillway trust remove " +
                   row.provider.text));
    }
    client_.confirm(row.id, {}, life_.guard([then](const Result<wire::ContractAnswer>& told) {
      if (!told) return then(tl::unexpected(told.error()));
      then(told->contract);
    }));
  }));
}

void Signing::sign_half(const Seen& seen, const model::Card& own, model::Trust trust,
                        const Then<Contract>& then) {
  const Contract& row = seen.evidence.row;
  const Instant sign_by = std::min(row.deadline, now_() + k_longest_to_sign);
  Result<model::Fabric> fabric =
      fabric_of_ ? fabric_of_(row, seen.evidence.provider->card) : model::Fabric{};
  if (!fabric) return then(tl::unexpected(std::move(fabric).error()));
  auto document =
      signatory_.sign(row, {own, seen.evidence.provider->card, trust, sign_by, std::move(*fabric)});
  if (!document) return then(tl::unexpected(std::move(document).error()));
  auto agreement = pki::verify_agreement(std::move(*document), pki::Signers::buyer);
  if (!agreement) return then(tl::unexpected(std::move(agreement).error()));
  Paper paper = paper_of(*agreement, false, now_());
  paper.provider_card = seen.evidence.provider->document;
  if (seen.evidence.buyer) paper.buyer_card = seen.evidence.buyer->document;
  papers_.keep(paper, life_.guard([this, row, then](const Result<Paper>& kept) {
    if (!kept) return then(tl::unexpected(kept.error()));
    client_.confirm(
        row.id, {kept->document},
        life_.guard([row, id = kept->agreement, then](const Result<wire::ContractAnswer>& told) {
          if (!told) return then(tl::unexpected(told.error()));
          if (told->contract.id == row.id && told->contract.agreement == id) {
            // Active only once both signatures were seen.
            Contract waiting = row;
            waiting.agreement = id;
            return then(waiting);
          }
          then(fail(Code::denied, "contract " + row.id.text,
                    "the broker answered with another agreement than the one signed",
                    "release it, and ask the broker's operator"));
        }));
  }));
}

void Signing::bound_until(const ContractId& id, Then<std::optional<Instant>> then) {
  papers_.find(id, life_.guard([then = std::move(then)](const Result<std::optional<Paper>>& paper) {
    if (!paper) return then(tl::unexpected(paper.error()));
    const auto agreed = *paper ? read_paper(**paper) : Result<Agreed>(Agreed{});
    if (!*paper || !agreed) return then(std::optional<Instant>());
    then(signed_sign_by(*agreed) + agreed->agreement.agreement.terms.grace);
  }));
}

// ---- the provider ----

void Signing::countersign(const ContractId& id, Sales sales, Then<Contract> then) {
  show_card(std::nullopt, life_.guard([this, id, sales = std::move(sales),
                                       then = std::move(then)](const Result<model::Card>& own) {
    if (!own) return then(tl::unexpected(own.error()));
    look(id, [this, card = *own, sales, then](const Result<Seen>& seen) {
      if (!seen) return then(tl::unexpected(seen.error()));
      countersign_seen(*seen, card, sales, then);
    });
  }));
}

void Signing::countersign_seen(const Seen& seen, const model::Card& own, const Sales& sales,
                               const Then<Contract>& then) {
  const Evidence& evidence = seen.evidence;
  const Contract& row = evidence.row;
  if (row.state != ContractState::hold || !evidence.agreement || evidence.complete) {
    return then(row);
  }
  const bool is_signed =
      seen.paper && seen.paper->complete && seen.paper->agreement == evidence.agreement->id;
  if (is_signed) return send_countersigned(*seen.paper, then);
  if (Status shown = check_shown(evidence.provider, own); !shown) {
    own_.reset();
    return then(tl::unexpected(std::move(shown).error()));
  }
  const model::Offer* offer = sales.offer(evidence.agreement->agreement.offer);
  Status good = check_to_countersign(evidence, self(), own, offer, now_());
  if (good) good = sales.cover(row);
  if (!good) return then(tl::unexpected(std::move(good).error()));
  believe(evidence.buyer, &evidence.agreement->agreement.buyer,
          life_.guard([this, seen, then](const Result<model::Trust>& how) {
            if (!how) return then(tl::unexpected(how.error()));
            countersign_believed(seen, *how, then);
          }));
}

void Signing::countersign_believed(const Seen& seen, model::Trust trust,
                                   const Then<Contract>& then) {
  const Evidence& evidence = seen.evidence;
  auto document = signatory_.countersign(evidence.agreement->document);
  if (!document) return then(tl::unexpected(std::move(document).error()));
  auto both = pki::verify_agreement(std::move(*document), pki::Signers::both);
  if (!both) return then(tl::unexpected(std::move(both).error()));
  auto accepted = signatory_.sign({both->id, evidence.row.id},
                                  {.kind = Kind::accepted, .trust = trust}, 1, now_());
  if (!accepted) return then(tl::unexpected(std::move(accepted).error()));
  Paper paper = paper_of(evidence, now_());
  paper.document = both->document;
  paper.complete = true;
  paper.events.push_back({signatory_.cluster(), 1, Kind::accepted, std::move(*accepted)});
  papers_.keep(paper, life_.guard([this, then](const Result<Paper>& kept) {
    if (!kept) return then(tl::unexpected(kept.error()));
    send_countersigned(*kept, then);
  }));
}

void Signing::send_countersigned(const Paper& paper, const Then<Contract>& then) {
  wire::CountersignRequest body{paper.document, {}};
  for (const PaperEvent& event : paper.events) {
    if (event.kind == Kind::accepted) body.accepted = event.document;
  }
  client_.countersign(paper.contract, body,
                      life_.guard([then](const Result<wire::ContractAnswer>& told) {
                        if (!told) return then(tl::unexpected(told.error()));
                        then(told->contract);
                      }));
}

}  // namespace spillway::agent
