#include "services/agent/mailbox.h"

#include <algorithm>
#include <utility>

namespace spillway::agent {
namespace {

using services::Level;

// Of a message that the broker will not take however often it is asked.
bool is_final(Code code) {
  return code == Code::invalid || code == Code::not_found || code == Code::gone ||
         code == Code::stale;
}

}  // namespace

Mailbox::Mailbox(Ports ports, ClusterId own, LetterKeys keys, MailboxState& state, Calls calls)
    : ports_(ports),
      own_(std::move(own)),
      keys_(std::move(keys)),
      state_(state),
      calls_(std::move(calls)) {}

void Mailbox::start() {
  for (const auto& [contract, with] : state_.contracts) {
    lines_[contract].saved = with.sent;
    post_next(contract);
    look_at(contract);
  }
}

Result<const Peer*> Mailbox::peer_in(Line& line, const ContractId& contract) {
  if (line.peer) return &*line.peer;
  const model::Agreement* agreement = calls_.agreement(contract);
  if (agreement == nullptr) {
    return fail(Code::conflict, "contract " + contract.text,
                "no agreement on it is known here, so there is nobody to seal to",
                "wait until it is signed");
  }
  auto peer = peer_of(*agreement, own_, keys_);
  if (!peer) return tl::unexpected(peer.error());
  line.peer = std::move(*peer);
  return &*line.peer;
}

// All that changes in one turn of the loop is saved at once.
void Mailbox::write_down(std::function<void()> then) {
  unsaved_.push_back(std::move(then));
  if (unsaved_.size() == 1) ports_.loop.post(life_.guard([this] { save_now(); }));
}

void Mailbox::save_now() {
  calls_.save(life_.guard([thens = std::exchange(unsaved_, {})] {
    for (const auto& then : thens) then();
  }));
}

// ---- sending -------------------------------------------------------------------------------

Result<int64_t> Mailbox::send(const ContractId& contract, std::string_view step, std::string body,
                              Duration ttl) {
  const auto peer = peer_in(lines_[contract], contract);
  if (!peer) return tl::unexpected(peer.error());
  Correspondence& with = state_.contracts[contract];
  if (with.unsent.size() >= k_most_unsent) {
    return fail(Code::over_quota, "contract " + contract.text,
                fmt::format("{} messages wait to be sent already", with.unsent.size()),
                "send it when the broker has taken some");
  }
  const int64_t sequence = with.sent + 1;
  auto envelope = write_letter(**peer, keys_, step, sequence, std::move(body));
  if (!envelope) return tl::unexpected(envelope.error());
  with.sent = sequence;
  with.unsent.push_back({sequence, std::string(step), std::move(*envelope),
                         ports_.loop.now() + std::clamp(ttl, seconds(1), k_longest_message_ttl)});
  write_down([this, contract, sequence] {
    const auto line = lines_.find(contract);
    if (line == lines_.end()) return;  // forgotten meanwhile
    line->second.saved = std::max(line->second.saved, sequence);
    post_next(contract);
  });
  return sequence;
}

void Mailbox::drop(Correspondence& with, const ContractId& contract, const std::string& why) {
  counts_.dropped += 1;
  ports_.log.write(Level::warning, "message not sent",
                   {{"contract", contract.text},
                    {"number", fmt::format("{}", with.unsent.front().sequence)},
                    {"why", why}});
  with.unsent.erase(with.unsent.begin());
}

// One at a time: their numbers must grow on their way.
void Mailbox::post_next(const ContractId& contract) {
  const auto found = state_.contracts.find(contract);
  Line& line = lines_[contract];
  if (found == state_.contracts.end() || line.posting) return;
  Correspondence& with = found->second;
  const Instant now = ports_.loop.now();
  while (!with.unsent.empty() && with.unsent.front().expires <= now) {
    drop(with, contract, "it expired before the broker had it");
  }
  if (with.unsent.empty() || with.unsent.front().sequence > line.saved) return;
  const Outgoing& first = with.unsent.front();
  line.posting = true;
  ports_.client.send_message(
      contract,
      {first.sequence, first.step, first.envelope,
       std::clamp(first.expires - now, seconds(1), k_longest_message_ttl)},
      life_.guard([this, contract, sequence = first.sequence](const Result<void>& answer) {
        on_posted(contract, sequence, answer);
      }));
}

void Mailbox::on_posted(const ContractId& contract, int64_t sequence, const Result<void>& answer) {
  const auto found = state_.contracts.find(contract);
  const auto line = lines_.find(contract);
  if (found == state_.contracts.end() || line == lines_.end()) return;  // forgotten meanwhile
  line->second.posting = false;
  Correspondence& with = found->second;
  const bool is_first = !with.unsent.empty() && with.unsent.front().sequence == sequence;
  if (!answer && !is_final(answer.error().code)) {
    const Duration wait = line->second.post_backoff.next(ports_.random);
    ports_.loop.after(wait, life_.guard([this, contract] { post_next(contract); }));
    return;
  }
  line->second.post_backoff.reset();
  if (answer) counts_.sent += 1;
  if (!answer && is_first) drop(with, contract, answer.error().message());
  // Not saved for its own sake: after a kill the broker knows that it has it.
  if (answer && is_first) with.unsent.erase(with.unsent.begin());
  post_next(contract);
}

// ---- receiving -----------------------------------------------------------------------------

void Mailbox::on_event(const wire::EventBody& event) {
  if (event.kind == "message-sent") look_at(ContractId(event.subject));
}

void Mailbox::look_at(const ContractId& contract) {
  Line& line = lines_[contract];
  if (line.asking) {
    line.ask_again = true;
    return;
  }
  line.asking = true;
  ask(contract);
}

// While something that was seen waits at the broker, it tells of nothing new: what it may not have
// heard is said again. It is saved, else there would be no asking yet.
void Mailbox::ask(const ContractId& contract) {
  const auto with = state_.contracts.find(contract);
  const int64_t seen = with == state_.contracts.end() ? 0 : with->second.seen;
  if (!lines_[contract].acknowledged) return take(contract, seen);
  ports_.client.get_messages(contract, seen,
                             life_.guard([this, contract](const Result<wire::MessagePage>& page) {
                               on_page(contract, page);
                             }));
}

void Mailbox::ask_later(const ContractId& contract) {
  const Duration wait = lines_[contract].ask_backoff.next(ports_.random);
  ports_.loop.after(wait, life_.guard([this, contract] {
    if (lines_.contains(contract)) ask(contract);
  }));
}

void Mailbox::end_asking(const ContractId& contract) {
  Line& line = lines_[contract];
  line.asking = false;
  line.ask_backoff.reset();
  if (std::exchange(line.ask_again, false)) look_at(contract);
}

void Mailbox::on_page(const ContractId& contract, const Result<wire::MessagePage>& page) {
  const auto line = lines_.find(contract);
  if (line == lines_.end()) return;  // forgotten meanwhile
  if (!page && is_final(page.error().code)) return end_asking(contract);
  if (!page) return ask_later(contract);
  if (page->messages.empty()) return end_asking(contract);
  // What cannot be judged yet is left where it is.
  const auto peer = peer_in(line->second, contract);
  if (!peer) return ask_later(contract);

  int64_t through = 0;
  for (const wire::MessageRow& row : page->messages) through = std::max(through, row.sequence);
  const int64_t taken = hand_over(contract, **peer, *page);
  if (!lines_.contains(contract)) return;  // by one that was handed a message
  if (taken > 0) {
    write_down([this, contract, through] {
      ports_.loop.after(k_gather_acknowledgements,
                        life_.guard([this, contract, through] { take(contract, through); }));
    });
    return;
  }
  // A broker that has nothing but what is refused is not asked as fast as it answers.
  const Duration wait = line->second.ask_backoff.next(ports_.random);
  ports_.loop.after(wait, life_.guard([this, contract, through] { take(contract, through); }));
}

void Mailbox::take(const ContractId& contract, int64_t through) {
  if (!lines_.contains(contract)) return;
  ports_.client.take_messages(contract, {through},
                              life_.guard([this, contract](const Result<wire::MessagePage>& page) {
                                const auto line = lines_.find(contract);
                                if (line == lines_.end()) return;  // forgotten meanwhile
                                line->second.acknowledged = page.has_value();
                                on_page(contract, page);
                              }));
}

int64_t Mailbox::hand_over(const ContractId& contract, const Peer& peer,
                           const wire::MessagePage& page) {
  int64_t taken = 0;
  int64_t highest = 0;  // on this page
  for (const wire::MessageRow& row : page.messages) {
    Correspondence& with = state_.contracts[contract];
    if (row.sequence <= with.seen) {
      refuse(contract, row, row.sequence < highest ? Refusal::out_of_order : Refusal::replayed);
      continue;
    }
    auto body = read_letter(peer, keys_, row);
    if (!body) {
      refuse(contract, row, body.error());
      continue;
    }
    counts_.missed += row.sequence - with.seen - 1;
    if (row.sequence > with.seen + 1) {
      ports_.log.write(Level::warning, "messages missed",
                       {{"contract", contract.text},
                        {"after", fmt::format("{}", with.seen)},
                        {"before", fmt::format("{}", row.sequence)}});
    }
    highest = row.sequence;
    with.seen = row.sequence;
    lines_[contract].acknowledged = false;
    counts_.received += 1;
    taken += 1;
    if (taken == 1) lines_[contract].ask_backoff.reset();
    calls_.on_message({contract, row.step, row.sequence, std::move(*body)});
    if (!lines_.contains(contract)) break;  // forgotten by who was handed it, and so is `peer`
  }
  return taken;
}

void Mailbox::refuse(const ContractId& contract, const wire::MessageRow& row, Refusal why) {
  counts_.refused[static_cast<size_t>(why)] += 1;
  ports_.log.write(Level::warning, "message refused",
                   {{"contract", contract.text},
                    {"number", fmt::format("{}", row.sequence)},
                    {"why", std::string(to_text(why))}});
}

void Mailbox::forget(const ContractId& contract) {
  state_.contracts.erase(contract);
  lines_.erase(contract);
}

}  // namespace spillway::agent
