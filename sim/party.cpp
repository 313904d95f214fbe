#include "sim/party.h"

namespace spillway::sim {

namespace {
constexpr Duration k_ask_timeout = seconds(3);
}

void Party::ask(market::Command command, host::Reply reply, int tries) {
  if (tries == 0) {
    reply(fail(Code::unavailable, "market", "no broker answered", "try again later"));
    return;
  }
  auto once = std::make_shared<host::Reply>(std::move(reply));
  const auto again = [this, command, once, tries] {
    if (*once) ask(command, std::exchange(*once, nullptr), tries - 1);
  };
  process_.after(k_ask_timeout + world_.between({}, seconds(1)), again);
  SimBroker& broker = any_broker();
  network_.send(
      address_, broker.address(), [this, &broker, command, once, again, life = process_.life()] {
        if (!broker.process().is_up()) return;
        broker.handle(command, [this, &broker, once, again, life](Result<market::Answer> answer) {
          network_.send(
              broker.address(), address_, [this, once, again, life, answer = std::move(answer)] {
                if (!process_.is_up() || process_.life() != life || !*once) return;
                const bool unknown = !answer && (answer.error().code == Code::unavailable ||
                                                 answer.error().code == Code::contended);
                if (unknown) return;  // the timer asks again
                std::exchange(*once, nullptr)(answer);
              });
        });
      });
}

void Party::ask_events(int64_t after, host::Then<std::vector<market::Event>> then) {
  SimBroker& broker = any_broker();
  network_.send(address_, broker.address(), [this, &broker, after, then, life = process_.life()] {
    if (!broker.process().is_up()) return;
    broker.events_after(after, [this, &broker, then, life](Result<std::vector<market::Event>> got) {
      network_.send(broker.address(), address_, [this, then, life, got = std::move(got)] {
        if (process_.is_up() && process_.life() == life) then(got);
      });
    });
  });
}

void Party::ask_contracts(const ClusterId& provider, host::Then<ContractsSeen> then) {
  SimBroker& broker = any_broker();
  network_.send(
      address_, broker.address(), [this, &broker, provider, then, life = process_.life()] {
        if (!broker.process().is_up()) return;
        broker.contracts_of(provider, [this, &broker, then, life](Result<ContractsSeen> got) {
          network_.send(broker.address(), address_, [this, then, life, got = std::move(got)] {
            if (process_.is_up() && process_.life() == life) then(got);
          });
        });
      });
}

}  // namespace spillway::sim
