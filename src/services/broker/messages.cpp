// The relay: messages between the parties of a contract, which only they can read.
#include <charconv>

#include "market/relay.h"
#include "pki/envelope.h"
#include "services/broker/contract_access.h"
#include "services/broker/handlers.h"

namespace spillway::services {
namespace {

static_assert(std::cmp_equal(market::k_max_envelope_bytes,
                             pki::k_envelope_overhead + pki::k_max_sealed_plaintext));

// Of envelopes in one answer, beyond the first message.
constexpr size_t k_page_bytes = size_t{256} << 10;

wire::MessagePage page_of(const std::vector<host::Row>& rows) {
  wire::MessagePage page;
  size_t bytes = 0;
  for (const host::Row& row : rows) {
    const auto* message = held<market::MessageRecord>(row);
    if (message == nullptr) continue;  // taken or expired since its mailbox was read
    bytes += message->envelope.size();
    page.more = !page.messages.empty() && bytes > k_page_bytes;
    if (page.more) break;
    page.messages.push_back(
        {message->sequence, message->step, message->envelope, message->expires});
  }
  return page;
}

void tell_waiting(Desk& desk, const std::shared_ptr<Call>& call, std::vector<market::Key> waiting) {
  if (waiting.empty()) return answer(desk, *call, 200, wire::MessagePage{});
  load(desk, call, {std::move(waiting), {}}, [&desk, call](const host::Snapshot& snapshot) {
    answer(desk, *call, 200, page_of(snapshot.rows));
  });
}

bool number_asked(Desk& desk, Call& call, int64_t& after) {
  const std::string* text = call.target.parameter("after");
  if (text == nullptr) return true;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, after);
  if (error == std::errc{} && stop == end && after >= 0) return true;
  refuse(desk, call,
         {Code::invalid, "after", "it is not the number of a message",
          "send the last number that you have, or 0"});
  return false;
}

}  // namespace

void handle_send_message(Desk& desk, const std::shared_ptr<Call>& call) {
  auto body = read_body<wire::MessageRequest>(desk, *call, "message");
  if (!body) return;
  submit(desk, call,
         market::SendMessage{call->cluster(), contract_of(*call), body->sequence,
                             std::move(body->step), std::move(body->envelope), body->ttl},
         done(desk, call));
}

void handle_get_messages(Desk& desk, const std::shared_ptr<Call>& call) {
  int64_t after = 0;
  if (!number_asked(desk, *call, after)) return;
  const ContractId id = contract_of(*call);
  // Both mailboxes: whose is whose is known once the contract is.
  load(desk, call,
       {{market::key_of(id), market::mailbox_key(id, market::Direction::to_provider),
         market::mailbox_key(id, market::Direction::to_buyer)},
        {}},
       [&desk, call, after](const host::Snapshot& snapshot) {
         const auto* contract = held<model::Contract>(snapshot.rows[0]);
         if (contract == nullptr || !may_see(*call, *contract)) {
           return refuse(desk, *call, missing("contract", call->parameters[0]));
         }
         const auto direction = market::direction_to(*contract, call->cluster());
         const auto& row = snapshot.rows[direction == market::Direction::to_provider ? 1 : 2];
         const auto* mailbox = held<market::MailboxRecord>(row);
         if (mailbox == nullptr) return answer(desk, *call, 200, wire::MessagePage{});
         tell_waiting(desk, call, waiting_after(*mailbox, after, snapshot.now));
       });
}

// With what waits after them, so that whoever keeps up asks once for many.
void handle_take_messages(Desk& desk, const std::shared_ptr<Call>& call) {
  const auto body = read_body<wire::TakenRequest>(desk, *call, "taken");
  if (!body) return;
  submit(desk, call, market::TakeMessages{call->cluster(), contract_of(*call), body->through},
         [&desk, call](const market::Answer& told) { tell_waiting(desk, call, told.waiting); });
}

}  // namespace spillway::services
