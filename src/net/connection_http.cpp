// The part of a Connection that speaks HTTP: bytes to requests, answers and streams to bytes.
#include <algorithm>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/connection.h"
#include "net/keepalive.h"
#include "net/live_exchange.h"

namespace spillway::net {
namespace {

// A reader that vanished is noticed: by the kernel's probes while nothing is sent, and by its
// missing acknowledgements when something is. Little waits in the kernel, where unsent() cannot
// see it.
void watch_over_stream(int fd, Duration patience) {
  const int lowat_bytes = 64 * 1024;
  const auto patience_ms = static_cast<unsigned int>(patience.ms);
  probe_when_silent(fd);
  ::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof patience_ms);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat_bytes, sizeof lowat_bytes);
}

// Its memory, too.
void release(std::string& text) { std::string().swap(text); }

}  // namespace

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
        count_body(parser_->body_size());
        if (host_.bodies_bytes <= host_.limits.bodies_bytes) return bytes;
        refuse({503, "too much is being sent at once"});
        return {};
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
  const ServerLimits& limits = host_.limits;
  const size_t body_bytes =
      is_stranger() ? std::min(limits.body_bytes, limits.stranger_body_bytes) : limits.body_bytes;
  parser_ = std::make_unique<RequestParser>(ParseLimits{limits.header_bytes, body_bytes});
  enter(Phase::head, host_.limits.head);
}

void Connection::enter_body() {
  enter(Phase::body, host_.limits.body);
  if (parser_->expects_continue()) out_ += k_continue;
}

void Connection::count_body(size_t bytes) {
  host_.bodies_bytes += bytes - body_bytes_;
  body_bytes_ = bytes;
}

void Connection::handle() {
  ++host_.counts.requests;
  count_body(0);
  keeps_alive_ = parser_->keeps_alive() && !host_.is_draining;
  is_chunked_ = !parser_->is_http_1_0();
  Request request = parser_->take();
  parser_.reset();
  is_head_request_ = request.method == "HEAD";
  enter(Phase::handling, {});
  host_.handler.handle(std::move(request), peer_,
                       std::make_shared<LiveExchange>(weak_from_this(), host_.handler));
}

void Connection::refuse(Refusal why) {
  ++host_.counts.refused;
  count_body(0);
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
    enter_idle();
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

}  // namespace spillway::net
