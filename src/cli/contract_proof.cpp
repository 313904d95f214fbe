#include "cli/contract_proof.h"

#include <algorithm>

#include "cli/table.h"
#include "model/fields.h"
#include "pki/ed25519.h"
#include "services/agent/dispute.h"
#include "services/agent/evidence.h"

namespace spillway::cli {

template <class F>
void fields(F& f, ProofSide& side) {
  f.required("cluster", side.cluster);
  f.required("key", side.key);
  f.required("trust", side.trust);
}

template <class F>
void fields(F& f, ProofEvent& event) {
  f.required("by", event.by);
  f.required("number", event.number);
  f.required("kind", event.kind);
  f.required("at", event.at);
  f.with_default("says", event.says);
}

template <class F>
void fields(F& f, Proof& proof) {
  f.required("contract", proof.contract);
  f.with_default("agreement", proof.agreement);
  f.required("buyer", proof.buyer);
  f.required("provider", proof.provider);
  f.required("complete", proof.complete);
  f.required("copy", proof.copy);
  f.required("events", proof.events);
  f.with_default("wrong", proof.wrong);
}

namespace {

using Kind = model::ContractEventKind;

std::string fingerprint_of(const model::Signatory& side) {
  const auto key = pki::read_signing_key(side.key);
  return key ? key->fingerprint() : std::string();
}

ProofSide side_of(const model::Signatory& side, const agent::Signatory& self,
                  const agent::TrustBook& book, std::string& wrong) {
  ProofSide shown{side.cluster.text, fingerprint_of(side), {}};
  const auto pin = book.pins.find(side.cluster);
  if (side.cluster == self.cluster()) {
    const bool is_own = side.key == self.key_text();
    shown.trust = is_own ? "our own" : "a former key of ours";
  } else if (pin == book.pins.end()) {
    shown.trust = "not pinned";
    if (wrong.empty()) wrong = fmt::format("the key of {} is not pinned", side.cluster.text);
  } else if (pin->second.key != shown.key) {
    shown.trust = "another key is pinned";
    if (wrong.empty()) wrong = fmt::format("another key of {} is pinned", side.cluster.text);
  } else {
    shown.trust = agent::to_text(pin->second.how);
  }
  return shown;
}

std::string words_of_event(const model::ContractEvent& event) {
  if (event.until) return "until " + to_text(*event.until);
  if (event.trust) return "knows the buyer's key by: " + std::string(agent::to_text(*event.trust));
  if (event.kind != Kind::release) return {};
  if (event.units.empty()) return "all units";
  return fmt::format("units {}", fmt::join(event.units, ", "));
}

// The broker's events and those that only our copy has.
Status take_copy(const agent::Evidence& evidence, const std::optional<agent::Paper>& paper,
                 agent::Agreed& agreed, Proof& proof) {
  if (!paper) {
    proof.copy = "none";
    return {};
  }
  const auto kept = agent::read_paper(*paper);
  if (!kept) return tl::unexpected(kept.error());
  const bool is_same = kept->agreement.id == evidence.agreement->id;
  proof.copy = !is_same          ? "of another agreement"
               : !kept->complete ? "without the provider's signature"
                                 : "the same";
  if (!is_same && kept->complete) proof.wrong = "our own copy is of another agreement";
  if (!is_same) return {};
  for (const pki::VerifiedEvent& event : kept->events) {
    const bool is_known =
        std::any_of(agreed.events.begin(), agreed.events.end(),
                    [&](const pki::VerifiedEvent& one) { return one.document == event.document; });
    if (!is_known) agreed.events.push_back(event);
  }
  return {};
}

}  // namespace

Result<Proof> prove(const wire::AgreementAnswer& told, const ContractId& asked,
                    const agent::Signatory& self, const agent::FolderPapers& papers) {
  const auto evidence = agent::weigh(told, asked, {self.cluster(), self.federation()});
  if (!evidence) return tl::unexpected(evidence.error());
  const auto paper = papers.find_now(asked);
  if (!paper) return tl::unexpected(paper.error());
  const auto book = papers.read_trust_now();
  if (!book) return tl::unexpected(book.error());
  Proof proof;
  proof.contract = asked.text;
  if (!evidence->agreement) {
    proof.copy = *paper ? "signed" : "none";
    proof.wrong = *paper ? "it is called unsigned, and our copy is signed" : "nobody has signed it";
    return proof;
  }
  agent::Agreed agreed{*evidence->agreement, evidence->complete, evidence->events};
  SPILLWAY_TRY(take_copy(*evidence, *paper, agreed, proof));
  const model::Agreement& agreement = agreed.agreement.agreement;
  proof.agreement = agreed.agreement.id;
  proof.complete = agreed.complete;
  proof.buyer = side_of(agreement.buyer, self, *book, proof.wrong);
  proof.provider = side_of(agreement.provider, self, *book, proof.wrong);
  for (const pki::VerifiedEvent& one : agreed.events) {
    const model::ContractEvent& event = one.event;
    proof.events.push_back({event.by.text, event.number, std::string(to_text(event.kind)), event.at,
                            words_of_event(event)});
  }
  if (proof.wrong.empty()) proof.wrong = dispute(evidence->row, agreed);
  if (proof.wrong.empty() && !proof.complete) proof.wrong = "its provider has not signed it";
  return proof;
}

std::string json_of(const Proof& proof) { return model::write_json(proof); }

std::string proof_text(const Proof& proof, const Clock& clock) {
  Facts facts;
  facts.add("contract", proof.contract);
  facts.add("agreement", proof.agreement.empty() ? "unsigned" : proof.agreement);
  const auto side = [](const ProofSide& one) {
    return one.cluster.empty() ? std::string()
                               : fmt::format("{}, key {} ({})", one.cluster, one.key, one.trust);
  };
  facts.add("buyer", side(proof.buyer));
  facts.add("provider", proof.complete || proof.provider.cluster.empty()
                            ? side(proof.provider)
                            : side(proof.provider) + ", has not signed");
  facts.add("our copy", proof.copy);
  facts.add("verdict", proof.wrong.empty() ? "proven" : "NOT PROVEN: " + proof.wrong);
  Table events({{"BY"}, {"NO", Align::right}, {"EVENT"}, {"WHEN"}, {"SAYS"}});
  for (const ProofEvent& event : proof.events) {
    events.add(
        {event.by, fmt::format("{}", event.number), event.kind, clock(event.at), event.says});
  }
  return facts.text() + (events.empty() ? std::string() : "\n" + events.text());
}

}  // namespace spillway::cli
