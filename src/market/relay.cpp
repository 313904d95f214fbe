#include "market/relay.h"

#include <algorithm>

#include "base/base64.h"
#include "market/transitions.h"
#include "model/validation.h"

namespace spillway::market {
namespace {

using model::Contract;

std::string name_of(const SendMessage& command) {
  return fmt::format("message {} of contract {}", command.sequence, command.contract.text);
}

// How many bytes it has; one text for each envelope, so that a retry is known by it.
Result<int64_t> envelope_bytes(const SendMessage& command) {
  const auto bytes = from_base64(command.envelope);
  const bool is_one_line = bytes && command.envelope.size() == (bytes->size() + 2) / 3 * 4;
  if (!is_one_line || bytes->empty()) {
    return fail(Code::invalid, name_of(command), "its envelope is not base64 of anything",
                "write it in one line, with padding");
  }
  if (std::cmp_greater(bytes->size(), k_max_envelope_bytes)) {
    return fail(Code::invalid, name_of(command),
                fmt::format("its envelope has {} bytes", bytes->size()),
                fmt::format("send at most {}", k_max_envelope_bytes));
  }
  return static_cast<int64_t>(bytes->size());
}

Status check_may_send(const Contract& contract) {
  if (!contract.is_live()) {
    return fail(Code::gone, "contract " + contract.id.text,
                "it is closed, and its parties have nothing more to tell each other here",
                "hold anew");
  }
  if (!contract.agreement.empty()) return {};
  return fail(Code::conflict, "contract " + contract.id.text,
              "nobody has signed it, so no message can belong to it",
              "let the buyer sign it first");
}

Fingerprint content_of(const SendMessage& command) {
  return Digest().add(command.step).add(command.envelope).value();
}

// A number that was used: a retry, or a mistake.
Result<Answer> answer_again(const MailboxRecord& mailbox, const SendMessage& command) {
  const auto known =
      std::find_if(mailbox.posted.begin(), mailbox.posted.end(),
                   [&](const Posted& posted) { return posted.sequence == command.sequence; });
  const std::string next = fmt::format("go on with a number above {}", mailbox.sent());
  if (known == mailbox.posted.end()) {
    return fail(Code::gone, name_of(command), "it is past: what had this number no longer waits",
                next);
  }
  if (known->content != content_of(command)) {
    return fail(Code::stale, name_of(command), "another message has this number", next);
  }
  Answer answer;
  answer.replayed = true;
  return answer;
}

Status check_room(const MailboxRecord& mailbox, const SendMessage& command, int64_t bytes,
                  const Rules& rules) {
  size_t count = 0;
  int64_t sum = bytes;
  for (const Posted& posted : mailbox.posted) {
    count += posted.waiting ? 1 : 0;
    sum += posted.waiting ? posted.bytes : 0;
  }
  if (count < rules.max_waiting && sum <= rules.max_waiting_bytes) return {};
  return fail(
      Code::over_quota, name_of(command),
      fmt::format("{} messages with {} bytes wait for the other side already", count, sum - bytes),
      fmt::format("send it again when some are taken; at most {} with {} bytes may wait",
                  rules.max_waiting, rules.max_waiting_bytes));
}

// Of what no longer waits, the last few are remembered.
void prune(MailboxRecord& mailbox, const Rules& rules) {
  const size_t past =
      mailbox.posted.size() - std::min(mailbox.posted.size(), rules.remembered_messages);
  const auto end = mailbox.posted.begin() + static_cast<ptrdiff_t>(past);
  mailbox.posted.erase(std::remove_if(mailbox.posted.begin(), end,
                                      [](const Posted& posted) { return !posted.waiting; }),
                       end);
}

// Only to the receiver, beside the overseers: the sender knows.
Event message_event(const Contract& contract, Direction direction, const SendMessage& command,
                    Instant now) {
  Event event = event_on(contract, EventKind::message_sent, now,
                         fmt::format("{}, number {}", to_text(direction), command.sequence));
  event.pool = {};
  if (direction == Direction::to_provider) event.buyer = {};
  if (direction == Direction::to_buyer) event.provider = {};
  return event;
}

// What `drops` says of no longer waits, and its messages go.
template <class Drops>
bool drop_messages(Workspace& workspace, MailboxRecord& mailbox, Drops drops) {
  bool any = false;
  for (Posted& posted : mailbox.posted) {
    if (!posted.waiting || !drops(posted)) continue;
    const Key key = message_key(mailbox.contract, mailbox.direction, posted.sequence);
    workspace.find<MessageRecord>(key);  // what is deleted was read
    workspace.erase(key);
    posted.waiting = false;
    any = true;
  }
  return any;
}

}  // namespace

std::vector<Key> waiting_after(const MailboxRecord& mailbox, int64_t after, Instant now) {
  std::vector<Key> keys;
  for (const Posted& posted : mailbox.posted) {
    if (posted.sequence <= after || !posted.waiting || posted.expires <= now) continue;
    keys.push_back(message_key(mailbox.contract, mailbox.direction, posted.sequence));
  }
  return keys;
}

Result<Answer> run(Workspace& workspace, const SendMessage& command, const Context& context) {
  const auto contract = contract_of(workspace, command.sender, Side::either, command.contract);
  if (!contract) return tl::unexpected(contract.error());
  SPILLWAY_TRY(check_may_send(*contract));
  SPILLWAY_TRY(model::check_sequence("sequence", command.sequence));
  SPILLWAY_TRY(model::check_step("step", command.step));
  SPILLWAY_TRY(model::check_range("ttl", command.ttl, seconds(1), context.rules.max_message_ttl));
  const Direction direction = opposite(direction_to(*contract, command.sender));
  const Key mailbox = mailbox_key(command.contract, direction);
  const Key message = message_key(command.contract, direction, command.sequence);
  const auto* known = workspace.find<MailboxRecord>(mailbox);
  workspace.find<MessageRecord>(message);  // read, to be written
  if (workspace.lacks_rows()) return Answer{};
  const auto bytes = envelope_bytes(command);
  if (!bytes) return tl::unexpected(bytes.error());
  MailboxRecord next;
  if (known != nullptr) next = *known;
  if (command.sequence <= next.sent()) return answer_again(next, command);
  SPILLWAY_TRY(check_room(next, command, *bytes, context.rules));

  const Instant expires = context.now + command.ttl;
  if (waiting_after(next, 0, context.now).empty()) {
    workspace.emit(message_event(*contract, direction, command, context.now));
  }
  next.contract = command.contract;
  next.direction = direction;
  next.posted.push_back({command.sequence, content_of(command), *bytes, expires, true});
  next.forget_at = context.now + context.rules.mailbox_retention;
  prune(next, context.rules);
  workspace.put(mailbox, std::move(next));
  workspace.put(message, MessageRecord{command.contract, direction, command.sequence, command.step,
                                       command.envelope, expires});
  return Answer{};
}

Result<Answer> run(Workspace& workspace, const TakeMessages& command, const Context& context) {
  const auto contract = contract_of(workspace, command.receiver, Side::either, command.contract);
  if (!contract) return tl::unexpected(contract.error());
  SPILLWAY_TRY(model::check_range("through", command.through, 0, INT64_MAX));
  const Key key = mailbox_key(command.contract, direction_to(*contract, command.receiver));
  const auto* known = workspace.find<MailboxRecord>(key);
  if (known == nullptr) return Answer{};
  MailboxRecord next = *known;
  const bool any = drop_messages(
      workspace, next, [&](const Posted& posted) { return posted.sequence <= command.through; });
  Answer answer;
  answer.waiting = waiting_after(next, 0, context.now);
  if (!any) return answer;
  prune(next, context.rules);
  workspace.put(key, std::move(next));
  return answer;
}

void attend_mailbox(Workspace& workspace, const MailboxRecord& mailbox, const Context& context) {
  const Key key = mailbox_key(mailbox.contract, mailbox.direction);
  MailboxRecord next = mailbox;
  const bool expired = drop_messages(
      workspace, next, [&](const Posted& posted) { return posted.expires <= context.now; });
  if (expired) {
    prune(next, context.rules);
    workspace.put(key, next);
  }
  if (next.forget_at > context.now) return;
  const auto* contract = workspace.find<Contract>(key_of(mailbox.contract));
  const bool is_over = contract == nullptr || !contract->is_live();
  if (is_over && waiting_after(next, 0, context.now).empty()) return workspace.erase(key);
  next.forget_at = context.now + context.rules.mailbox_retention;
  workspace.put(key, std::move(next));
}

}  // namespace spillway::market
