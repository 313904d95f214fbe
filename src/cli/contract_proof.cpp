#include "cli/contract_proof.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

constexpr const char* k_same_copy = "the same";

std::string fingerprint_of(const model::Signatory& side) {
  const auto key = pki::read_signing_key(side.key);
  return key ? key->fingerprint() : std::string();
}

ProofSide side_of(const model::Signatory& side, const agent::Signatory& self,
                  const agent::TrustBook& book, bool is_kept, std::string& wrong) {
  ProofSide shown{side.cluster.text, fingerprint_of(side), {}};
  const auto pin = book.pins.find(side.cluster);
  if (side.cluster == self.cluster()) {
    const bool is_own = side.key == self.key_text();
    shown.trust = is_own ? "our own" : is_kept ? "a former key of ours" : "another key than ours";
    // Only our copy tells a key that we had from one that was made up.
    if (!is_own && !is_kept && wrong.empty()) {
      wrong = "it names another key than ours, and there is no copy of it here";
    }
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
  if (event.kind == Kind::usage) {
    std::vector<std::string> used;
    for (const model::MeteredUse& one : event.used) {
      used.push_back(fmt::format("unit {}: {}", one.unit, to_text(one.use)));
    }
    return fmt::format("{}", fmt::join(used, "; "));
  }
  if (event.kind != Kind::release && event.kind != Kind::purchase) return {};
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
                                 : k_same_copy;
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

std::string why_unsigned(bool has_copy, bool is_damaged) {
  if (!has_copy && !is_damaged) return "nobody has signed it";
  return fmt::format("it is called unsigned, and our copy is {}", has_copy ? "signed" : "damaged");
}

std::string damaged_words(const Error& damage) {
  return fmt::format("damaged: {}: {}", damage.thing, damage.reason);
}

// A copy that cannot be written takes nothing from what was proven.
void keep_proven(const agent::Evidence& evidence, agent::FolderPapers& papers, Instant now,
                 std::string& copy) {
  const bool was_there = copy == k_same_copy;
  const auto kept = papers.keep_now(agent::paper_of(evidence, now));
  if (!kept) {
    copy += "; not kept: " + kept.error().message();
  } else if (!was_there && kept->complete) {
    copy += "; what was verified is kept now";
  }
}

}  // namespace

void put_in_order(std::vector<ProofEvent>& events) {
  std::sort(events.begin(), events.end(), [](const ProofEvent& a, const ProofEvent& b) {
    return std::tie(a.by, a.number) < std::tie(b.by, b.number);
  });
  struct Placed {
    Instant at;  // no earlier than what the same side signed before
    ProofEvent event;
  };
  std::vector<Placed> placed;
  for (ProofEvent& event : events) {
    const bool is_first = placed.empty() || placed.back().event.by != event.by;
    const Instant at = is_first ? event.at : std::max(event.at, placed.back().at);
    placed.push_back({at, std::move(event)});
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.at < b.at; });
  for (size_t i = 0; i < placed.size(); ++i) events[i] = std::move(placed[i].event);
}

Result<Proof> prove(const wire::AgreementAnswer& told, const ContractId& asked,
                    const agent::Signatory& self, agent::FolderPapers& papers, Instant now) {
  const auto evidence = agent::weigh(told, asked, {self.cluster(), self.federation()});
  if (!evidence) return tl::unexpected(evidence.error());
  auto found = papers.find_now(asked);
  const bool is_damaged = !found && found.error().code == Code::invalid;
  if (!found && !is_damaged) return tl::unexpected(found.error());
  const std::optional<agent::Paper> paper = found.value_or(std::nullopt);
  const auto book = papers.read_trust_now();
  if (!book) return tl::unexpected(book.error());
  Proof proof;
  proof.contract = asked.text;
  if (!evidence->agreement) {
    proof.copy = paper ? "signed" : is_damaged ? damaged_words(found.error()) : "none";
    proof.wrong = why_unsigned(paper.has_value(), is_damaged);
    return proof;
  }
  agent::Agreed agreed{*evidence->agreement, evidence->complete, evidence->events};
  SPILLWAY_TRY(take_copy(*evidence, paper, agreed, proof));
  if (is_damaged) proof.copy = damaged_words(found.error());
  const model::Agreement& agreement = agreed.agreement.agreement;
  proof.agreement = agreed.agreement.id;
  proof.complete = agreed.complete;
  const bool is_kept = paper && paper->agreement == proof.agreement;
  proof.buyer = side_of(agreement.buyer, self, *book, is_kept, proof.wrong);
  proof.provider = side_of(agreement.provider, self, *book, is_kept, proof.wrong);
  for (const pki::VerifiedEvent& one : agreed.events) {
    const model::ContractEvent& event = one.event;
    proof.events.push_back({event.by.text, event.number, std::string(to_text(event.kind)), event.at,
                            words_of_event(event)});
  }
  put_in_order(proof.events);
  // What is kept was believed before; of anything else the keys must be believed now.
  if (is_kept || proof.wrong.empty()) keep_proven(*evidence, papers, now, proof.copy);
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
