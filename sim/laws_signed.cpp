// The laws on what is signed: that the book never keeps what was not, and that no member is brought
// to sign, or to keep, what the other side did not mean. Signatures are verified anew here, and
// keys held against those that identities had.
#include <algorithm>

#include "pki/signed_documents.h"
#include "sim/laws.h"

namespace spillway::sim {
namespace {

using market::AgreementRecord;
using market::CardRecord;
using model::Contract;
using model::ContractState;

int64_t highest(const AgreementRecord& record, const ClusterId& by) {
  int64_t highest = 0;
  for (const market::KeptEvent& event : record.events) {
    if (event.by == by) highest = std::max(highest, event.number);
  }
  return highest;
}

// As it was before the commit.
template <class T>
const T* before_in(const Undo& undo, const Rows& rows, const market::Key& key) {
  for (const auto& [changed, row] : undo.rows) {
    if (changed == key) return held<T>(row.record);
  }
  return rows.get<T>(key);
}

}  // namespace

void Laws::check_card(const CardRecord& record, const Undo& undo) {
  const auto verified = pki::verify_card(record.document);
  const std::string& name = record.card.cluster.text;
  expect(verified && verified->card == record.card, 5, "the card of " + name + " is not signed");
  if (!verified) return;
  // In one commit a card may be shown and the key be changed, in that order.
  const market::Key key = market::identity_key(name);
  const auto* after = rows_.get<model::Identity>(key);
  const auto* before = before_in<model::Identity>(undo, rows_, key);
  expect((after != nullptr && after->key == verified->fingerprint) ||
             (before != nullptr && before->key == verified->fingerprint),
         5, "the card of " + name + " shows a key that is not its own");
  keys_[name].insert(record.card.key);
  if (record.card.liqo.empty()) return;
  for (const auto& [other, row] : rows_.all()) {
    const auto* card = held<CardRecord>(row.record);
    if (card == nullptr || card->card.cluster == record.card.cluster) continue;
    expect(
        card->card.liqo != record.card.liqo, 5,
        fmt::format("the Liqo id {} is shown by {} and by {}", record.card.liqo, name, other.id));
  }
}

bool Laws::is_key_of(const ClusterId& cluster, const std::string& key) const {
  const auto known = keys_.find(cluster.text);
  return known != keys_.end() && known->second.contains(key);
}

void Laws::check_agreement(const AgreementRecord* was, const AgreementRecord& is, Instant at) {
  const std::string& id = is.contract.text;
  if (was != nullptr) check_signed_events(*was, is);
  if (was != nullptr && was->document == is.document) return;  // looked at already
  const auto signers = is.complete ? pki::Signers::both : pki::Signers::buyer;
  const auto verified = pki::verify_agreement(is.document, signers);
  expect(verified && verified->id == is.id, 5,
         fmt::format("what is kept of contract {} is not signed by its parties", id));
  const auto* contract = rows_.get<Contract>(market::key_of(is.contract));
  if (!verified || contract == nullptr) return;
  const auto what = difference(verified->agreement, *contract);
  expect(what.empty(), 5, fmt::format("contract {} was signed with another {}", id, what));
  expect(contract->agreement == is.id, 5, fmt::format("contract {} names another agreement", id));
  expect(is_key_of(is.buyer, verified->agreement.buyer.key) &&
             is_key_of(is.provider, verified->agreement.provider.key),
         5, fmt::format("contract {} names keys that are not its parties'", id));
  expect(was == nullptr || was->id == is.id, 5, fmt::format("contract {} was signed anew", id));
  const bool completed = is.complete && (was == nullptr || !was->complete);
  expect(!completed || at < is.sign_by, 5,
         fmt::format("contract {} was signed by its provider after {}", id, to_text(is.sign_by)));
}

void Laws::check_signed_events(const AgreementRecord& was, const AgreementRecord& is) {
  for (const market::KeptEvent& event : is.events) {
    const bool is_old = std::find(was.events.begin(), was.events.end(), event) != was.events.end();
    if (is_old) continue;
    const auto verified = pki::verify_event(event.document);
    const std::string& key = event.by == is.buyer ? is.buyer_key : is.provider_key;
    expect(verified && verified->event.key == key && verified->event.by == event.by &&
               verified->event.agreement == is.id,
           5,
           fmt::format("an event on contract {} is not signed by {}", is.contract.text,
                       event.by.text));
    expect(event.number > highest(was, event.by), 5,
           fmt::format("event {} of {} on contract {} was heard before", event.number,
                       event.by.text, is.contract.text));
  }
}

// Nothing is active between two who can sign unless both have; nothing lasts longer than was
// signed.
void Laws::check_signatures(const Contract* before, const Contract& after, const Undo& undo,
                            const host::Commit& commit) {
  const bool begins = after.state == ContractState::active &&
                      (before == nullptr || before->state == ContractState::hold);
  const auto* record = rows_.get<AgreementRecord>(market::agreement_key(after.id));
  if (begins && after.agreement.empty()) {
    const bool both =
        before_in<CardRecord>(undo, rows_, market::card_key(after.buyer)) != nullptr &&
        before_in<CardRecord>(undo, rows_, market::card_key(after.provider)) != nullptr;
    expect(!both, 5, fmt::format("contract {} is active, and nobody has signed it", after.id.text));
  }
  if (after.agreement.empty()) return;
  expect(record != nullptr, 2,
         fmt::format("what was signed on contract {} is not there", after.id.text));
  if (record == nullptr) return;
  expect(!begins || record->complete, 5,
         fmt::format("contract {} is active with one signature", after.id.text));
  if (before != nullptr && has_bought(*before, after)) check_purchases(after, *record);
  const bool renewed =
      std::any_of(commit.events.begin(), commit.events.end(), [&](const market::Event& event) {
        return event.kind == market::EventKind::contract_renewed && event.subject == after.id.text;
      });
  if (renewed && before != nullptr && before->state == ContractState::active &&
      after.state == ContractState::active) {
    expect(is_promised(*record, after.deadline), 5,
           fmt::format("contract {} lasts longer than its buyer signed for", after.id.text));
  }
}

void Laws::check_purchases(const Contract& after, const AgreementRecord& record) {
  for (const model::Unit& unit : after.units) {
    if (!unit.bought) continue;
    const bool is_signed = std::any_of(
        record.events.begin(), record.events.end(), [&](const market::KeptEvent& event) {
          if (event.kind != model::ContractEventKind::purchase) return false;
          const auto verified = pki::verify_event(event.document);
          return verified && std::find(verified->event.units.begin(), verified->event.units.end(),
                                       unit.number) != verified->event.units.end();
        });
    expect(is_signed, 5,
           fmt::format("contract {}: unit {} is bought, and nobody signed for it", after.id.text,
                       unit.number));
  }
}

bool Laws::is_promised(const AgreementRecord& record, Instant until) const {
  for (const market::KeptEvent& event : record.events) {
    if (event.kind != model::ContractEventKind::renewal) continue;
    const auto verified = pki::verify_event(event.document);
    return verified && verified->event.until && *verified->event.until >= until;
  }
  return false;
}

void Laws::check_countersigned(const std::string& provider, const std::string& document) {
  const auto verified = pki::verify_agreement(document, pki::Signers::both);
  expect(verified.has_value(), 5, provider + " sends what is not signed by both");
  if (!verified) return;
  const model::Agreement& agreement = verified->agreement;
  expect(is_key_of(agreement.buyer.cluster, agreement.buyer.key), 5,
         fmt::format("{} has signed with somebody who is not {}", provider,
                     agreement.buyer.cluster.text));
}

void Laws::check_paper(const std::string& owner, const agent::Paper& paper) {
  if (!paper.complete) return;
  const auto verified = pki::verify_agreement(paper.document, pki::Signers::both);
  const std::string& id = paper.contract.text;
  expect(verified.has_value(), 5, fmt::format("{} keeps what was not signed: {}", owner, id));
  const auto* contract = rows_.get<Contract>(market::key_of(paper.contract));
  if (!verified || contract == nullptr) return;
  const auto what = difference(verified->agreement, *contract);
  expect(what.empty(), 5, fmt::format("{} keeps contract {} with another {}", owner, id, what));
  expect(is_key_of(paper.buyer, verified->agreement.buyer.key) &&
             is_key_of(paper.provider, verified->agreement.provider.key),
         5, fmt::format("{} keeps contract {} with somebody else's key", owner, id));
}

void Laws::on_said(const ClusterId& by, const ContractId& contract, int64_t number,
                   const std::string& body) {
  said_.emplace(contract.text, by.text, number, body);
}

void Laws::on_heard(const ClusterId& by, const ContractId& contract, int64_t last, int64_t number,
                    const std::string& body) {
  expect(number > last, 5,
         fmt::format("{} heard message {} on contract {} after {}", by.text, number, contract.text,
                     last));
  const auto* row = rows_.get<Contract>(market::key_of(contract));
  if (row == nullptr) return;
  const ClusterId& speaker = row->buyer == by ? row->provider : row->buyer;
  expect(said_.contains({contract.text, speaker.text, number, body}), 5,
         fmt::format("{} heard on contract {} what {} never said", by.text, contract.text,
                     speaker.text));
}

}  // namespace spillway::sim
