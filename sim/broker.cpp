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
  directory_.reset();
  log_.reset();
  process_.crash();
}

void SimBroker::restart() {
  process_.restart();
  feed_ = std::make_unique<host::CatalogueFeed>(process_, connection_);
  host_ =
      std::make_unique<host::BookHost>(process_, connection_, process_.world().random(), options_);
  log_ = std::make_unique<host::EventLog>(process_, connection_);
  directory_ = std::make_unique<host::Directory>(process_, connection_, *log_);
  host_->listen([this](const host::Commit& commit, const host::Committed& committed) {
    feed_->learn(commit);
    directory_->learn(commit);
    log_->learn(commit, committed);
  });
  follow_log();
  feed_->start();
  directory_->start();
  log_->start();
  host_->start();
}

void SimBroker::follow_log() {
  log_->on_jump([this](int64_t last) { last_heard_ = last; });
  log_->listen([this](const market::Event& event) {
    laws_.expect(event.sequence == last_heard_ + 1, 2, "an event was left out or told twice");
    last_heard_ = event.sequence;
    laws_.on_event(event);
  });
}

void SimBroker::handle(const market::Command& command, const host::Reply& reply) {
  const market::Origin origin{std::string(name_of(command)), "some request"};
  host_->submit(
      command,
      [this, command, reply](Result<market::Answer> answer) {
        laws_.on_answer(command, answer);
        check_answer(command, answer);
        reply(std::move(answer));
      },
      origin);
}

// Whoever hears from a broker that somebody is revoked may count on it there, at once.
void SimBroker::check_answer(const market::Command& command, const Result<market::Answer>& answer) {
  const auto* revoke = std::get_if<market::Revoke>(&command);
  if (revoke == nullptr || !answer || answer->replayed || !directory_->is_ready()) return;
  const auto known = directory_->find(revoke->name);
  laws_.expect(known != nullptr && (known->revoked || known->since >= *answer->identity->revoked),
               2, fmt::format("{} is revoked, and its broker does not know", revoke->name));
}

void SimBroker::events_after(int64_t sequence, const host::Then<std::vector<market::Event>>& then) {
  connection_.events_after(sequence, 200, then);
}

void SimBroker::contracts_of(const ClusterId& provider, const host::Then<ContractsSeen>& then) {
  host::Scan pools;
  pools.kind = market::Kind::pool;
  pools.by = host::Scan::By::owner;
  pools.name = provider.text;
  connection_.load({{}, {pools}}, [this, then](Result<host::Snapshot> snapshot) {
    if (!snapshot) return then(tl::unexpected(snapshot.error()));
    host::Load load;
    for (const host::Row& row : snapshot->found.front()) {
      host::Scan contracts;
      contracts.name = row.key.id;
      load.scans.push_back(std::move(contracts));
    }
    connection_.load(load, [then, last = snapshot->last_event](Result<host::Snapshot> found) {
      if (!found) return then(tl::unexpected(found.error()));
      ContractsSeen seen{last, {}};
      for (const auto& rows : found->found) {
        for (const host::Row& row : rows) seen.contracts.emplace_back(row.key.id);
      }
      then(seen);
    });
  });
}

}  // namespace spillway::sim
