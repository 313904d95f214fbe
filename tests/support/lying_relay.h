// A broker's relay in memory: the real book behind its three routes, for members on scripted
// channels. It can be told to lie: `tamper` changes what a receiver is shown, as a broker may that
// nobody has to trust. Answers can be lost.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "market/relay.h"
#include "services/wire/fields.h"
#include "support/scripted_broker.h"
#include "support/scripted_channel.h"
#include "support/signed_market.h"

namespace spillway::test {

class LyingRelay {
 public:
  using Rows = std::vector<wire::MessageRow>;

  explicit LyingRelay(host::Loop& loop) : loop_(loop) {
    book.now = loop.now();
    open_signed_market(book, 10);
  }

  TestBook book;
  std::function<void(const ClusterId& receiver, Rows&)> tamper = [](const ClusterId&, Rows&) {};
  std::function<bool(const net::Request&)> loses = [](const net::Request&) { return false; };
  // The request itself: nothing comes of it.
  std::function<bool(const net::Request&)> never_gets = [](const net::Request&) { return false; };
  std::function<void(const market::Event&)> tells = [](const market::Event&) {};  // on the loop

  std::unique_ptr<ScriptedChannel> channel_of(const ClusterId& caller) {
    auto channel = std::make_unique<ScriptedChannel>(loop_);
    channel->script =
        [this, caller](const net::Request& request) -> std::optional<Result<net::Response>> {
      book.now = loop_.now();
      if (never_gets(request)) return lost();
      auto answer = serve(caller, request);
      tell();
      if (loses(request)) return lost();
      return answer;
    };
    return channel;
  }

  // What waits for `receiver`, as the book has it.
  Rows waiting(const ClusterId& receiver, const ContractId& id) {
    Rows rows;
    const auto direction = market::direction_to(book.contract(id), receiver);
    const auto* mailbox = book.get<market::MailboxRecord>(market::mailbox_key(id, direction));
    if (mailbox == nullptr) return rows;
    for (const market::Key& key : waiting_after(*mailbox, 0, book.now)) {
      const auto* row = book.get<market::MessageRecord>(key);
      rows.push_back({row->sequence, row->step, row->envelope, row->expires});
    }
    return rows;
  }

 private:
  net::Response serve(const ClusterId& caller, const net::Request& request) {
    net::Target target;
    SPILLWAY_CHECK(net::parse_target(request.target, target), request.target);
    const ContractId id(target.segments[2]);
    if (target.segments.size() > 4) {
      const auto body = model::read_json<wire::TakenRequest>(request.body, "taken");
      return page(book.run(market::TakeMessages{caller, id, body->through}), caller, id, 0);
    }
    if (request.method == "GET") {
      return page(market::Answer{}, caller, id, std::stoll(*target.parameter("after")));
    }
    const auto body = model::read_json<wire::MessageRequest>(request.body, "message");
    const auto sent = book.run(
        market::SendMessage{caller, id, body->sequence, body->step, body->envelope, body->ttl});
    if (!sent) return refused(sent.error());
    return {204, {}, {}};
  }

  net::Response page(const Result<market::Answer>& answer, const ClusterId& caller,
                     const ContractId& id, int64_t after) {
    if (!answer) return refused(answer.error());
    wire::MessagePage page{waiting(caller, id), false};
    std::erase_if(page.messages,
                  [&](const wire::MessageRow& row) { return row.sequence <= after; });
    tamper(caller, page.messages);
    return ScriptedBroker::ok(page);
  }

  void tell() {
    const auto& events = book.rows().events();
    for (; told_ < events.size(); ++told_) {
      if (events[told_].kind != market::EventKind::message_sent) continue;
      loop_.post([this, event = events[told_]] { tells(event); });
    }
  }

  static net::Response refused(const Error& error) {
    return ScriptedBroker::refusal(error.code, error.thing, error.reason);
  }

  host::Loop& loop_;
  size_t told_ = 0;
};

}  // namespace spillway::test
