#include "sim/correspondent.h"

#include "pki/signed_documents.h"

namespace spillway::sim {

void Correspondent::begin(agent::Signatory signatory, const agent::MemoryPapers& papers) {
  end();
  papers_ = &papers;
  signatory_ = std::move(signatory);
  diary_ = saved_;
  agent::Mailbox::Calls calls;
  calls.agreement = [this](const ContractId& id) { return agreement_on(id); };
  calls.on_message = [this](const agent::Received& message) { hear(message); };
  calls.save = [this](std::function<void()> then) { save(std::move(then)); };
  mailbox_.emplace(agent::Mailbox::Ports{process_, world().random(), log_, client_},
                   signatory_->cluster(),
                   agent::LetterKeys{signatory_->key(), signatory_->sealing()}, diary_.mailbox,
                   std::move(calls));
  mailbox_->start();
}

void Correspondent::end() {
  refused_ = refused();
  mailbox_.reset();
  // What was on its way to the disk is there, or not.
  if (under_way_ && world().chance(500)) saved_ = std::move(*under_way_);
  under_way_.reset();
}

int64_t Correspondent::refused() const {
  if (!mailbox_) return refused_;
  return refused_ + mailbox_->counts().all_refused();
}

const model::Agreement* Correspondent::agreement_on(const ContractId& id) {
  const auto known = agreements_.find(id);
  if (known != agreements_.end()) return &known->second;
  const auto paper = papers_->papers.find(id);
  if (paper == papers_->papers.end() || !paper->second.complete) return nullptr;
  const auto verified = pki::verify_agreement(paper->second.document, pki::Signers::both);
  if (!verified) return nullptr;
  return &agreements_.emplace(id, verified->agreement).first->second;
}

void Correspondent::save(std::function<void()> then) {
  under_way_ = diary_;
  process_.after(world().between(milliseconds(1), milliseconds(20)),
                 [this, number = ++saves_, written = diary_, then = std::move(then)] {
                   if (number > last_saved_) saved_ = written;
                   last_saved_ = std::max(last_saved_, number);
                   if (number == saves_) under_way_.reset();
                   then();
                 });
}

void Correspondent::hear(const agent::Received& message) {
  int64_t& last = diary_.heard[message.contract];
  laws_.on_heard(signatory_->cluster(), message.contract, last, message.sequence, message.body);
  last = message.sequence;
}

void Correspondent::on_event(const wire::EventBody& event) {
  if (mailbox_) mailbox_->on_event(event);
}

void Correspondent::chat() {
  if (!mailbox_ || papers_->papers.empty()) return;
  const auto& papers = papers_->papers;
  // Of the newest ones: the others have ended.
  const auto pick = static_cast<ptrdiff_t>(world().below(std::min<size_t>(papers.size(), 6)));
  const ContractId& id = std::prev(papers.end(), pick + 1)->first;
  if (world().chance(400)) return mailbox_->look_at(id);
  const std::string body =
      fmt::format("{} {:x}", signatory_->cluster().text, world().random().next());
  const auto sent = mailbox_->send(id, "nonce", body, world().between(seconds(5), minutes(2)));
  if (sent) laws_.on_said(signatory_->cluster(), id, *sent, body);
}

}  // namespace spillway::sim
