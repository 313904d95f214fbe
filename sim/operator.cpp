#include "sim/operator.h"

namespace spillway::sim {
namespace {

const model::Roles k_consumer{model::Role::consumer};
const model::Roles k_provider{model::Role::provider};
const model::Roles k_viewer{model::Role::viewer};

void ignore(const Result<market::Answer>&) {}

}  // namespace

SimOperator::SimOperator(World& world, Network& network,
                         std::vector<std::unique_ptr<SimBroker>>& brokers, Address at,
                         const std::vector<ClusterId>& providers)
    : Party(world, network, brokers, at) {
  for (int i = 0; i < 4; ++i) people_[fmt::format("member-{}", i)].roles = k_consumer;
  people_["watcher"].roles = k_viewer;
  for (const ClusterId& provider : providers) people_[provider.text].roles = k_provider;
}

void SimOperator::begin() { act_later(); }

void SimOperator::act_later() {
  process_.after(world_.between(seconds(2), seconds(8)), [this] {
    if (is_retired()) return;
    act();
    act_later();
  });
}

void SimOperator::act() {
  const auto pick =
      std::next(people_.begin(), static_cast<ptrdiff_t>(world_.below(people_.size())));
  const std::string& name = pick->first;
  const Person& person = pick->second;
  if (person.key.empty() || (person.revoked && world_.chance(700))) return admit(name);
  if (world_.chance(person.roles == k_provider ? 60 : 250)) return revoke(name);
  renew(name);
}

std::string SimOperator::fresh_key() { return fmt::format("{:064x}", ++numbers_); }

std::string SimOperator::fresh_certificate() {
  return fmt::format("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", ++numbers_);
}

void SimOperator::admit(const std::string& name) {
  const std::string token = fmt::format("token-{}", ++numbers_);
  const Duration ttl = world_.between(minutes(1), minutes(3));
  ask(market::MakeToken{token, name, people_[name].roles, {}, ttl},
      [this, name, token, ttl](const Result<market::Answer>& made) {
        if (!made) return;
        if (world_.chance(100)) return ask(market::CancelToken{token}, ignore);
        // Some come just before its end, or after.
        const Duration wait = world_.chance(200) ? ttl + world_.between(seconds(-2), seconds(20))
                                                 : world_.between({}, seconds(10));
        process_.after(wait, [this, name, token] { join(name, token); });
      });
}

void SimOperator::join(const std::string& name, const std::string& token) {
  const std::string key = fresh_key();
  const market::Join command{token, key, fresh_certificate(), process_.now() + hours(24)};
  ask(command, [this, name, key](const Result<market::Answer>& joined) {
    if (!joined) return;
    people_[name].key = key;
    people_[name].revoked = false;
  });
  // Asked again, perhaps much later; and somebody else has got hold of the token.
  if (world_.chance(300)) {
    process_.after(world_.between({}, minutes(4)), [this, command] { ask(command, ignore); });
  }
  if (world_.chance(300)) {
    market::Join stolen = command;
    stolen.key = fresh_key();
    stolen.certificate = fresh_certificate();
    process_.after(world_.between({}, seconds(5)), [this, stolen] { ask(stolen, ignore); });
  }
}

void SimOperator::renew(const std::string& name) {
  Person& person = people_[name];
  const std::string next = world_.chance(500) ? fresh_key() : person.key;
  const market::Recertify command{name, person.key, next, fresh_certificate(),
                                  process_.now() + hours(24)};
  ask(command, [this, name, next](const Result<market::Answer>& renewed) {
    if (renewed) people_[name].key = next;
  });
}

void SimOperator::revoke(const std::string& name) {
  ask(market::Revoke{name}, [this, name](const Result<market::Answer>& revoked) {
    if (!revoked) return;
    people_[name].revoked = true;
    // It tries all the same.
    if (world_.chance(500)) renew(name);
    if (people_[name].roles == k_provider) {
      process_.after(world_.between(seconds(2), seconds(20)), [this, name] { admit(name); });
    }
  });
}

}  // namespace spillway::sim
