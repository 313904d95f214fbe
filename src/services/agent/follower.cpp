#include "services/agent/follower.h"

#include <optional>
#include <utility>

namespace spillway::agent {

void Follower::start() {
  last_seen_ = context_.state().last_event;
  context_.hear();  // nobody's silence began before we listened
  begin();
}

void Follower::reconnect() {
  backoff_.reset();
  connected_ = false;
  begin();
}

void Follower::stop() {
  ++turn_;
  connected_ = false;
  stream_.reset();
}

// Streams are dropped here and in stop(), never inside of their own calls.
void Follower::begin() {
  const uint64_t turn = ++turn_;
  stream_.reset();
  const auto heard = [this, turn](auto then) {
    return life_.guard([this, turn, then](const auto&... what) {
      if (turn == turn_) then(what...);
    });
  };
  if (last_seen_ < 0) {
    return context_.client.snapshot(heard([this](const Result<wire::SnapshotAnswer>& answer) {
      if (!answer) return on_end(answer.error());
      take(*answer);
      begin();
    }));
  }
  wire::EventCalls calls;
  calls.on_open = heard([this] {
    connected_ = true;
    opened_ = context_.now();
    told_ = false;
    context_.log.write(services::Level::info, "following the broker's events",
                       {{"after", std::to_string(last_seen_)}});
    calls_.on_open();
  });
  calls.on_event = heard([this](const wire::EventBody& event) { on_event(event); });
  calls.on_end = heard([this](const Error& why, const wire::SnapshotAnswer* snapshot) {
    if (snapshot != nullptr) take(*snapshot);
    context_.loop.post(life_.guard([this, why, ended = turn_] {
      if (ended == turn_) on_end(why);
    }));
  });
  stream_ = context_.client.follow(last_seen_, std::move(calls));
}

void Follower::take(const wire::SnapshotAnswer& snapshot) {
  context_.log.write(
      services::Level::info, "taking over the broker's snapshot",
      {{"at", std::to_string(snapshot.sequence)}, {"epoch", std::to_string(snapshot.epoch)}});
  context_.hear();
  last_seen_ = snapshot.sequence;
  calls_.on_snapshot(snapshot);
}

void Follower::on_event(const wire::EventBody& event) {
  if (event.sequence <= last_seen_) return;
  context_.hear();
  last_seen_ = event.sequence;
  calls_.on_event(event);
}

void Follower::on_end(const Error& why) {
  const bool was_open = std::exchange(connected_, false);
  if (was_open && context_.now() - opened_ >= k_settled) backoff_.reset();
  if (!std::exchange(told_, true)) {
    context_.log.write(services::Level::warning, "the broker's events have ended",
                       {{"why", why.message()}});
  }
  context_.last_error = why.message();
  if (why.code == Code::denied) {
    return begin_later(host::between(context_.random, Duration{host::k_refused_wait.ms / 2},
                                     host::k_refused_wait));
  }
  begin_later(backoff_.next(context_.random));
}

void Follower::begin_later(Duration wait) {
  const uint64_t turn = ++turn_;
  stream_.reset();
  context_.loop.after(wait, life_.guard([this, turn] {
    if (turn == turn_) begin();
  }));
}

}  // namespace spillway::agent
