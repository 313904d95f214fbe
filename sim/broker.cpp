#include "sim/broker.h"

namespace spillway::sim {

SimBroker::SimBroker(World& world, Network& network, SimStore& store, Address store_at, Address at,
                     Laws& laws, host::BookOptions options)
    : process_(world),
      address_(at),
      connection_(process_, at, network, store, store_at),
      laws_(laws),
      options_(options) {
  restart();
}

void SimBroker::crash() {
  host_.reset();
  feed_.reset();
  process_.crash();
}

void SimBroker::restart() {
  process_.restart();
  feed_ = std::make_unique<host::CatalogueFeed>(process_, connection_);
  host_ =
      std::make_unique<host::BookHost>(process_, connection_, process_.world().random(), options_);
  host_->listen(
      [this](const host::Commit& commit, const host::Committed&) { feed_->learn(commit); });
  feed_->start();
  host_->start();
}

void SimBroker::handle(const market::Command& command, const host::Reply& reply) {
  host_->submit(command, [this, command, reply](Result<market::Answer> answer) {
    laws_.on_answer(command, answer);
    reply(std::move(answer));
  });
}

void SimBroker::events_after(int64_t sequence, const host::Then<std::vector<market::Event>>& then) {
  connection_.events_after(sequence, 200, then);
}

}  // namespace spillway::sim
