#include "services/agent/messages.h"

#include <set>
#include <utility>

namespace spillway::agent {
namespace {

std::vector<int32_t> units_bought(const Agreed& agreed) {
  std::set<int32_t> units;
  for (const pki::VerifiedEvent& one : agreed.events) {
    if (one.event.kind != model::ContractEventKind::purchase) continue;
    units.insert(one.event.units.begin(), one.event.units.end());
  }
  return {units.begin(), units.end()};
}

}  // namespace

void Messages::start() {
  if (context_.signing == nullptr) return;
  MailboxState& state = context_.state().mailbox;
  std::erase_if(state.contracts,
                [&](const auto& one) { return !context_.state().contracts.contains(one.first); });
  const Signatory& self = context_.signing->signatory();
  Mailbox::Calls calls;
  calls.agreement = [this](const ContractId& id) { return agreement(id); };
  calls.on_message = [this](const Received& message) { on_message(message); };
  calls.save = [this](std::function<void()> then) { context_.keeper.flush(std::move(then)); };
  mailbox_.emplace(Mailbox::Ports{context_.loop, context_.random, context_.log, context_.client},
                   self.cluster(), LetterKeys{self.key(), self.sealing()}, state, std::move(calls));
  mailbox_->start();
}

Result<int64_t> Messages::send(const ContractId& contract, std::string_view step, std::string body,
                               Duration ttl) {
  if (mailbox_) return mailbox_->send(contract, step, std::move(body), ttl);
  return fail(Code::conflict, "contract " + contract.text, "this member signs nothing",
              "give it an identity of its own");
}

void Messages::on_event(const wire::EventBody& event) {
  const bool is_ours = context_.state().contracts.contains(ContractId(event.subject));
  if (mailbox_ && is_ours) mailbox_->on_event(event);
}

void Messages::look_at_all() {
  if (!mailbox_) return;
  for (const auto& [id, agreement] : agreements_) mailbox_->look_at(id);
}

void Messages::seen(const model::Contract& contract) {
  if (contract.is_live()) return;
  agreements_.erase(contract.id);
  purchased_.erase(contract.id);
  if (!mailbox_) return;
  mailbox_->forget(contract.id);
  context_.keeper.touch();
}

void Messages::verified(const ContractId& contract, const Paper& paper) {
  if (!mailbox_ || !paper.complete) return;
  const auto row = context_.state().contracts.find(contract);
  if (row == context_.state().contracts.end()) return;  // it ended meanwhile
  const bool is_new = !agreements_.contains(contract);
  if (!is_new && !row->second.spare) return;
  auto agreed = read_paper(paper);
  if (!agreed) return;  // never: it has just been verified
  purchased_[contract] = units_bought(*agreed);
  if (!is_new) return;
  agreements_.emplace(contract, std::move(agreed->agreement.agreement));
  mailbox_->look_at(contract);
}

const model::Agreement* Messages::agreement(const ContractId& contract) const {
  const auto known = agreements_.find(contract);
  return known == agreements_.end() ? nullptr : &known->second;
}

const std::vector<int32_t>* Messages::purchased(const ContractId& contract) const {
  const auto known = purchased_.find(contract);
  return known == purchased_.end() ? nullptr : &known->second;
}

void Messages::on_message(const Received& message) {
  const auto found = hears_.find(message.step);
  if (found != hears_.end()) return found->second(message);
  context_.log.write(services::Level::warning, "message for nobody",
                     {{"contract", message.contract.text}, {"step", message.step}});
}

}  // namespace spillway::agent
