#include "sim/operator.h"

namespace spillway::sim {
namespace {

template <class T>
void ignore(const Result<T>&) {}

}  // namespace

void SimMember::begin() { act_later(); }

void SimMember::act_later() {
  process_.after(world_.between(seconds(4), seconds(20)), [this] {
    if (has_joined()) {
      follow();
      if (!is_retired() && world_.chance(200)) {
        renew();
      } else {
        client_.whoami([this](const Result<wire::WhoAmI>& told) {
          laws_.expect(!told || told->name == name(), 5,
                       fmt::format("{} was taken for another", name()));
        });
      }
    }
    act_later();
  });
}

SimOperator::SimOperator(Surroundings& around, Address at, std::vector<Party*> members,
                         std::vector<model::Cluster> clusters)
    : Party(around, at, {"operator", {model::Role::operator_}, {}}),
      members_(std::move(members)),
      clusters_(std::move(clusters)),
      own_key_(make_key(around.world.random())) {}

void SimOperator::take_office() {
  const auto* identity = laws_.rows().get<model::Identity>(market::identity_key(name()));
  if (identity != nullptr) take_certificate(identity->certificate, own_key_);
}

void SimOperator::begin() {
  if (!clusters_put_) put_clusters();
  for (Party* member : members_) {
    if (!member->has_joined()) admit(*member);
  }
  act_later();
}

void SimOperator::put_clusters() {
  clusters_put_ = true;
  for (const model::Cluster& cluster : clusters_) {
    insist<void>(
        [this, cluster](wire::Then<void> then) { client_.put_cluster(cluster, std::move(then)); },
        [](const Status&) {}, 20);
  }
}

void SimOperator::act_later() {
  process_.after(world_.between(seconds(3), seconds(9)), [this] {
    act();
    act_later();
  });
}

void SimOperator::act() {
  if (world_.chance(500)) readmit();
  if (is_retired()) return;
  Party& member = *members_[world_.below(members_.size())];
  if (member.needs_token()) return;
  const bool trades = is_cluster(member.person().roles);
  if (world_.chance(trades ? 40 : 150)) return revoke(member);
  if (world_.chance(30)) admit(member);  // of whom nobody has said that it needs one
}

// Whoever was turned away has said so, on the telephone.
void SimOperator::readmit() {
  for (Party* member : members_) {
    if (member->needs_token() && member->process().is_up()) return admit(*member);
  }
}

void SimOperator::admit(Party& member) {
  wire::TokenRequest body;
  body.name = member.name();
  body.roles = member.person().roles;
  body.labels = member.person().labels;
  body.ttl = world_.between(minutes(1), minutes(3));
  insist<wire::TokenAnswer>(
      [this, body](wire::Then<wire::TokenAnswer> then) {
        client_.make_token(body, std::move(then));
      },
      [this, &member, ttl = body.ttl](const Result<wire::TokenAnswer>& made) {
        if (!made) return;
        if (world_.chance(50)) return client_.cancel_token(made->id, ignore<void>);
        misuse(made->token, ttl);
        // Some come just before its end, or after.
        const bool late = !is_retired() && world_.chance(100);
        const Duration wait =
            late ? ttl + world_.between(seconds(-2), seconds(20)) : world_.between({}, seconds(3));
        world_.after(wait, [&member, token = made->token] { member.invite(token); });
      });
}

// Somebody else has got hold of the token.
void SimOperator::misuse(const std::string& token, Duration ttl) {
  if (is_retired() || !world_.chance(200)) return;
  const Duration wait = world_.between({}, world_.chance(700) ? seconds(10) : ttl + seconds(5));
  process_.after(wait, [this, token] {
    client_.join({token, request_for(make_key(world_.random()).fingerprint)},
                 ignore<wire::CertificateAnswer>);
  });
}

void SimOperator::revoke(Party& member) {
  // It renews meanwhile, to be on the safe side; one of the brokers may not have heard.
  for (int i = 0; i < 3; ++i) {
    world_.after(world_.between({}, milliseconds(600)), [&member] { member.renew(); });
  }
  insist<wire::IdentityRow>(
      [this, &member](wire::Then<wire::IdentityRow> then) {
        client_.revoke(member.name(), std::move(then));
      },
      ignore<wire::IdentityRow>);
}

}  // namespace spillway::sim
