#include "net/connection.h"

#include <cerrno>

#include <netinet/in.h>
#include <netinet/tcp.h>
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

// A reader that vanished is noticed: by the kernel's probes while nothing is sent, and by its
// missing acknowledgements when something is. Little waits in the kernel, where unsent() cannot
// see it.
void watch_over_stream(int fd, Duration patience) {
  const int on = 1;
  const int idle_seconds = 30;
  const int between_seconds = 10;
  const int probes = 3;
  const int lowat_bytes = 64 * 1024;
  const auto patience_ms = static_cast<unsigned int>(patience.ms);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between_seconds, sizeof between_seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat_bytes, sizeof lowat_bytes);
}

void release(std::string& text) { std::string().swap(text); }

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
    enter(Phase::idle, host_.limits.idle);
  } else {
    enter(Phase::handshake, host_.limits.handshake);
    if (!link_.start_tls_server(tls.get())) close();
  }
}

void Connection::enter(Phase phase, Duration deadline) {
  phase_ = phase;
  deadline_ms_ = deadline.ms > 0 ? steady_ms() + deadline.ms : 0;
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
  enter(Phase::idle, host_.limits.idle);
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

void Connection::take(std::string_view bytes) {
  is_parsing_ = true;
  if (in_.empty()) {
    in_ = parse(bytes);
  } else {
    in_ += bytes;
    const size_t left = parse(in_).size();
    in_.erase(0, in_.size() - left);
  }
  if (in_.empty()) release(in_);
  is_parsing_ = false;
}

// Handles the requests in these bytes one after the other; returns what is left.
std::string_view Connection::parse(std::string_view bytes) {
  while (reads_requests() && !is_congested()) {
    if (phase_ == Phase::idle) {
      // RFC 9112, 2.2: an empty line before a request is ignored.
      while (!bytes.empty() && (bytes[0] == '\r' || bytes[0] == '\n')) bytes.remove_prefix(1);
      if (bytes.empty()) break;
      begin_request();
    }
    bytes.remove_prefix(parser_->feed(bytes));
    switch (parser_->state()) {
      case Parsed::head:
        return bytes;
      case Parsed::body:
        if (phase_ == Phase::head) enter_body();
        return bytes;
      case Parsed::refused:
        refuse(parser_->refusal());
        return {};
      case Parsed::done:
        handle();
        break;
    }
  }
  // Nothing follows a stream or an answer that ends the connection.
  return reads_requests() || phase_ == Phase::handling ? bytes : std::string_view{};
}

void Connection::begin_request() {
  parser_ = std::make_unique<RequestParser>(
      ParseLimits{host_.limits.header_bytes, host_.limits.body_bytes});
  enter(Phase::head, host_.limits.head);
}

void Connection::enter_body() {
  enter(Phase::body, host_.limits.body);
  if (parser_->expects_continue()) out_ += k_continue;
}

void Connection::handle() {
  ++host_.counts.requests;
  keeps_alive_ = parser_->keeps_alive() && !host_.is_draining;
  is_chunked_ = !parser_->is_http_1_0();
  Request request = parser_->take();
  parser_.reset();
  is_head_request_ = request.method == "HEAD";
  enter(Phase::handling, {});
  host_.handler.handle(std::move(request), peer_,
                       std::make_shared<LiveExchange>(weak_from_this(), host_.handler));
}

void Connection::refuse(const Refusal& why) {
  ++host_.counts.refused;
  parser_.reset();
  keeps_alive_ = false;
  is_head_request_ = false;
  phase_ = Phase::handling;
  respond(host_.handler.refuse(why.status, why.reason));
}

void Connection::respond(const Response& response) {
  if (phase_ != Phase::handling) return;
  if (host_.is_draining) keeps_alive_ = false;
  append_response(out_, response, is_head_request_ ? Framing::no_body : Framing::length,
                  keeps_alive_, host_.date.at(host_.poll.now()));
  finish_answer();
}

void Connection::finish_answer() {
  if (keeps_alive_) {
    enter(Phase::idle, host_.limits.idle);
  } else {
    enter(Phase::ending, {});
  }
  if (!is_parsing_) resume();
}

// The answer came later than the request: what came in between is looked at now.
void Connection::resume() {
  const auto self = shared_from_this();
  if (reads_requests()) want(true, writes_);
  pump();
  if (reads_requests() && link_.has_pending()) receive();
}

// Writes what is there; then handles what was held back because too much was unwritten.
void Connection::pump() {
  flush();
  while (phase_ == Phase::idle && !in_.empty() && unsent() == 0) {
    take({});
    flush();
  }
}

std::shared_ptr<Stream> Connection::open_stream(const Response& head) {
  if (phase_ != Phase::handling) return nullptr;
  append_response(out_, head, is_chunked_ ? Framing::chunked : Framing::to_end, false,
                  host_.date.at(host_.poll.now()));
  host_.flush_soon(shared_from_this());
  if (!is_parsing_) release(in_);
  if (is_head_request_) {
    enter(Phase::ending, {});
    return nullptr;
  }
  enter(Phase::stream, {});
  watch_over_stream(link_.fd(), host_.limits.write);
  want(true, writes_);
  ++host_.counts.streams;
  stream_ = std::make_shared<LiveStream>(this);
  const auto stream = stream_;
  if (host_.is_draining) stream->close();
  return stream;
}

void Connection::send_to_stream(std::string_view bytes) {
  if (phase_ != Phase::stream) return;
  if (unsent() == 0) host_.flush_soon(shared_from_this());
  if (is_chunked_) {
    append_chunk(out_, bytes);
  } else {
    out_ += bytes;
  }
}

void Connection::end_stream() {
  if (phase_ != Phase::stream) return;
  if (is_chunked_) out_ += k_last_chunk;
  enter(Phase::ending, {});
  host_.flush_soon(shared_from_this());
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
  release(out_);
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
