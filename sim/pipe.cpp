#include "sim/pipe.h"

#include <algorithm>

#include "sim/sim_exchange.h"

namespace spillway::sim {
namespace {

constexpr Duration k_head_patience = seconds(10);
constexpr Duration k_look = seconds(15);

}  // namespace

Pipe::Pipe(Process& client, Address client_at, Network& network, Door& door,
           std::shared_ptr<Asked> asked, net::StreamCalls calls, const Patience& patience)
    : world_(client.world()),
      client_(client),
      client_at_(client_at),
      network_(network),
      door_(door),
      asked_(std::move(asked)),
      client_life_(client.life()),
      calls_(std::move(calls)),
      patience_(patience),
      heard_(world_.now()) {}

void Pipe::open() {
  const auto self = shared_from_this();
  client_.after(k_head_patience, [self] {
    if (!self->has_head_)
      self->end(unavailable("it did not answer in time", "open the stream again"));
  });
  network_.carry(client_at_, door_.address(), [self] {
    if (!self->door_.process().is_up()) {
      self->network_.carry(self->door_.address(), self->client_at_, [self] {
        self->end(unavailable("it refused the connection", "open the stream again"));
      });
      return;
    }
    self->server_life_ = self->door_.process().life();
    self->slow_ = self->world_.chance(15);
    self->door_.arrive(self->asked_,
                       std::make_shared<SimExchange>(self->door_, self->asked_, self));
  });
}

bool Pipe::listens() const {
  return listening_ && client_.is_up() && client_.life() == client_life_;
}

void Pipe::abandon() {
  if (!std::exchange(listening_, false)) return;
  calls_ = {};
  // Who crashes with its machine says no good-bye.
  if (!client_.is_up() && world_.chance(500)) return;
  network_.carry(client_at_, door_.address(), [self = shared_from_this()] { self->lose_server(); });
}

void Pipe::end(const Error& why) {
  if (!listens()) return;
  listening_ = false;
  if (!gone_) reset_server();
  const net::StreamCalls calls = std::exchange(calls_, {});
  if (calls.on_end) calls.on_end(why);
}

void Pipe::watch_silence() {
  client_.after(k_look, [self = shared_from_this()] {
    if (!self->listens()) return;
    if (self->world_.now() - self->heard_ < self->patience_.silence) return self->watch_silence();
    self->end(unavailable("nothing was heard for a while", "open the stream again"));
  });
}

void Pipe::head(net::Response response, bool is_last) {
  push({is_last ? Kind::last_head : Kind::head, std::move(response)});
}

void Pipe::refuse(const Error& why) {
  if (gone_ || std::exchange(closed_, true)) return;
  push({Kind::end, {}, {}, why});
  world_.after({}, [self = shared_from_this()] { self->lose_server(); });
}

bool Pipe::send(std::string_view bytes) {
  if (gone_ || closed_) return false;
  unsent_ += bytes.size();
  push({Kind::bytes, {}, std::string(bytes)});
  return true;
}

void Pipe::close() {
  if (gone_ || std::exchange(closed_, true)) return;
  push({Kind::end});
  world_.after({}, [self = shared_from_this()] { self->lose_server(); });
}

void Pipe::cut() {
  close();
  lose_server();
}

void Pipe::crash() {
  gone_ = true;
  on_gone_ = nullptr;
  if (world_.chance(600)) return push({Kind::end});  // its machine lives on
  broken_ = true;
}

void Pipe::on_gone(std::function<void()> then) {
  if (gone_) return then();
  on_gone_ = std::move(then);
}

void Pipe::push(Piece piece) {
  if (broken_) return;
  auto delay = network_.next_delay(door_.address(), client_at_);
  if (!delay) {
    const bool for_good = network_.is_cut(door_.address(), client_at_) || world_.chance(250);
    if (for_good) return break_off();
    delay = world_.between(milliseconds(200), milliseconds(1500));  // it is sent again
  }
  Instant at = std::max(world_.now() + *delay, last_arrival_);
  if (slow_ && !network_.is_fair()) at = std::max(at, last_arrival_ + seconds(5));
  last_arrival_ = at;
  world_.after(at - world_.now(),
               [self = shared_from_this(), piece = std::move(piece)] { self->arrive(piece); });
}

void Pipe::arrive(const Piece& piece) {
  if (broken_) return;
  if (network_.is_cut(door_.address(), client_at_)) return break_off();
  unsent_ -= std::min(unsent_, piece.bytes.size());
  if (!listens()) return client_.is_up() ? reset_server() : break_off();
  heard_ = world_.now();
  switch (piece.kind) {
    case Kind::head: {
      has_head_ = true;
      watch_silence();
      const auto on_head = calls_.on_head;
      if (on_head) on_head(piece.head);
      break;
    }
    case Kind::last_head: {
      has_head_ = true;
      const auto on_head = calls_.on_head;
      if (on_head) on_head(piece.head);
      end({Code::gone, "broker", "the stream has ended", "open it again"});
      break;
    }
    case Kind::bytes: {
      const auto on_bytes = calls_.on_bytes;
      if (on_bytes) on_bytes(piece.bytes);
      break;
    }
    case Kind::end:
      end(piece.why.value_or(unavailable("the connection was closed", "open the stream again")));
      break;
  }
}

void Pipe::break_off() {
  if (std::exchange(broken_, true)) return;
  const auto self = shared_from_this();
  world_.after(world_.between(seconds(5), seconds(60)), [self] { self->lose_server(); });
  if (world_.chance(500) || patience_.probes) {
    world_.after(world_.between(seconds(1), seconds(40)), [self] {
      self->end(unavailable("the connection broke", "open the stream again"));
    });
  }
}

void Pipe::lose_server() {
  const bool same = door_.process().is_up() && door_.process().life() == server_life_;
  if (std::exchange(gone_, true) || !same) return;
  if (const auto then = std::exchange(on_gone_, nullptr)) then();
}

void Pipe::reset_server() {
  network_.carry(client_at_, door_.address(), [self = shared_from_this()] { self->lose_server(); });
}

}  // namespace spillway::sim
