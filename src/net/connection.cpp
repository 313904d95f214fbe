#include "net/connection.h"

#include <cerrno>

#include <sys/socket.h>

#include "base/check.h"
#include "net/clock.h"
#include "net/listener.h"
#include "net/live_exchange.h"

namespace spillway::net {
namespace {

constexpr Duration k_linger = seconds(2);
constexpr size_t k_most_discarded = 8 << 20;
constexpr int k_reads_at_once = 64;  // so that one client does not keep the others waiting

}  // namespace

Connection::Connection(ConnectionHost& host, int fd, std::string address, uint16_t port)
    : host_(host), link_(fd), address_(std::move(address)) {
  peer_.address = with_port(address_, port);
}

Connection::~Connection() {
  SPILLWAY_CHECK(phase_ == Phase::closed, "a connection is dropped and not closed");
}

void Connection::start(const TlsContext& tls) {
  host_.poll.watch(link_.fd(), true, false, [this](Ready ready) { on_ready(ready); });
  if (tls == nullptr) {
    enter_idle();
  } else {
    enter(Phase::handshake, host_.limits.handshake);
    if (!link_.start_tls_server(tls.get())) close();
  }
}

void Connection::enter(Phase phase, Duration deadline) {
  phase_ = phase;
  deadline_ms_ = deadline.ms > 0 ? steady_ms() + deadline.ms : 0;
}

void Connection::enter_idle() {
  enter(Phase::idle, is_stranger() ? host_.limits.stranger_idle : host_.limits.idle);
}

void Connection::want(bool read, bool write) {
  if (reads_ == read && writes_ == write) return;
  reads_ = read;
  writes_ = write;
  host_.poll.change(link_.fd(), read, write);
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  const auto self = shared_from_this();
  if (phase_ == Phase::handshake) ++host_.counts.handshakes_failed;
  phase_ = Phase::closed;
  count_body(0);
  host_.poll.unwatch(link_.fd());
  if (const auto stream = std::exchange(stream_, nullptr)) {
    --host_.counts.streams;
    stream->lose_connection();
  }
  host_.gone(*this);
}

void Connection::on_ready(Ready ready) {
  const auto self = shared_from_this();
  switch (phase_) {
    case Phase::handshake:
      return shake_hands();
    case Phase::lingering:
      return discard();
    default:
      break;
  }
  // Not asked for, so it is an error or the other side has gone altogether.
  if (ready.readable && !reads_) return close();
  if (unsent() > 0) pump();
  if (ready.readable && (phase_ == Phase::handling || phase_ == Phase::ending)) {
    // The next request can wait. Looked at only now: most clients do not send it so early.
    return want(false, writes_);
  }
  if (phase_ == Phase::closed || phase_ == Phase::lingering) return;
  if (ready.readable || read_needs_writable_ || link_.has_pending()) receive();
}

void Connection::shake_hands() {
  switch (link_.handshake()) {
    case Io::done:
      break;
    case Io::needs_readable:
      return want(true, false);
    case Io::needs_writable:
      return want(false, true);
    case Io::failed:
      if (link_.trouble().is_plaintext) {
        constexpr std::string_view k_hint =
            "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n"
            "This port speaks HTTPS.\n";
        ::send(link_.fd(), k_hint.data(), k_hint.size(), MSG_NOSIGNAL);
      }
      // The client is to read why: an alert, or the hint.
      ++host_.counts.handshakes_failed;
      enter(Phase::ending, {});
      return flush();
    case Io::ended:
      return close();
  }
  peer_.certificate = peer_certificate(link_.tls());
  if (is_resumed(link_.tls())) ++host_.counts.handshakes_resumed;
  enter_idle();
  want(true, false);
  if (host_.is_draining) return close();
  receive();
}

void Connection::receive() {
  read_needs_writable_ = false;
  for (int i = 0; i < k_reads_at_once; ++i) {
    size_t got = 0;
    switch (link_.read(host_.scratch.data(), host_.scratch.size(), got)) {
      case Io::done:
        break;
      case Io::needs_readable:
        return pump();
      case Io::needs_writable:
        read_needs_writable_ = true;
        return want(reads_, true);
      case Io::ended:
      case Io::failed:
        return close();
    }
    if (phase_ != Phase::stream) take({host_.scratch.data(), got});
    if (phase_ == Phase::closed) return;
    if (!reads_requests() && phase_ != Phase::stream) return pump();
    // Less than we asked for: the socket has no more just now, and tells us when it has.
    if (got < host_.scratch.size() && !link_.has_pending()) return pump();
    if (is_congested()) {
      pump();
      if (is_congested() || phase_ == Phase::closed) return;
    }
  }
  pump();
  // TLS may hold what the socket will not report again.
  host_.poll.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self != nullptr && (self->reads_requests() || self->phase_ == Phase::stream)) {
      self->receive();
    }
  });
}

void Connection::discard() {
  for (int i = 0; i < k_reads_at_once; ++i) {
    const ssize_t got = ::recv(link_.fd(), host_.scratch.data(), host_.scratch.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return close();
    discarded_ += static_cast<size_t>(got);
    if (discarded_ > k_most_discarded) return close();
  }
}

void Connection::flush() {
  if (phase_ == Phase::closed || phase_ == Phase::lingering) return;
  while (unsent() > 0) {
    size_t taken = 0;
    const Io io = link_.write(std::string_view(out_).substr(sent_), taken);
    if (io == Io::done) {
      sent_ += taken;
      write_deadline_ms_ = 0;
      continue;
    }
    if (io == Io::ended || io == Io::failed) return close();
    if (write_deadline_ms_ == 0) write_deadline_ms_ = steady_ms() + host_.limits.write.ms;
    // What is sent is dropped when it is the larger part, so that each byte moves once.
    if (sent_ > out_.size() / 2) {
      out_.erase(0, sent_);
      sent_ = 0;
    }
    if (io == Io::needs_readable) return want(true, false);
    // A reader that asks without taking the answers is not read from either.
    return want(phase_ == Phase::handling ? reads_ : !is_congested(), true);
  }
  finish_output();
}

void Connection::finish_output() {
  sent_ = 0;
  std::string().swap(out_);  // its memory, too
  if (phase_ == Phase::ending) {
    link_.end_output();
    if (const auto stream = std::exchange(stream_, nullptr)) {
      --host_.counts.streams;
      stream->lose_connection();
    }
    enter(Phase::lingering, k_linger);
    want(true, false);
    return discard();
  }
  want(phase_ == Phase::handling ? reads_ : true, read_needs_writable_);
}

void Connection::drain() {
  switch (phase_) {
    case Phase::idle:
      enter(Phase::ending, {});
      return flush();
    case Phase::stream:
      return stream_->close();
    case Phase::handshake:
      return close();
    default:
      return;
  }
}

int64_t Connection::dawdles_until_ms() const {
  const bool waits = phase_ == Phase::handshake || reads_requests() || phase_ == Phase::lingering;
  return is_stranger() && waits ? deadline_ms_ : 0;
}

void Connection::check_deadline(int64_t now_ms) {
  if (write_deadline_ms_ != 0 && now_ms >= write_deadline_ms_) {
    ++host_.counts.timed_out;
    return close();
  }
  if (deadline_ms_ == 0 || now_ms < deadline_ms_) return;
  if (phase_ == Phase::head || phase_ == Phase::body) {
    ++host_.counts.timed_out;
    return refuse({408, "the request did not come in time"});
  }
  if (phase_ == Phase::handshake) ++host_.counts.timed_out;
  close();
}

}  // namespace spillway::net
