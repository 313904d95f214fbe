#include "net/http2_link.h"

#include <array>
#include <system_error>

#include <nghttp2/nghttp2.h>
#include <sys/socket.h>

#include "base/check.h"

namespace spillway::net {
namespace {

constexpr int k_turns = 16;                // of reading, so that others have theirs
constexpr size_t k_most_unsent = 1 << 18;  // the session is asked for more when less waits
constexpr size_t k_most_kept = 1 << 17;    // of room for what is said next

}  // namespace

Http2Link::Http2Link(Poll& poll, int fd) : poll_(poll), link_(fd) {}

Http2Link::~Http2Link() {
  SPILLWAY_CHECK(phase_ == Phase::closed, "an HTTP/2 link is dropped and not closed");
}

void Http2Link::start(bool is_connecting) {
  phase_ = is_connecting ? Phase::connecting : Phase::handshake;
  reads_ = !is_connecting;
  writes_ = is_connecting;
  is_watched_ = true;
  poll_.watch(link_.fd(), reads_, writes_, [this](Ready ready) { on_ready(ready); });
  if (!is_connecting) shake_hands();
}

void Http2Link::close(const std::string& why) {
  if (phase_ == Phase::closed) return;
  const auto self = weak_from_this().lock();  // none while it is being destroyed
  phase_ = Phase::closed;
  if (is_watched_) poll_.unwatch(link_.fd());
  link_.end_output();
  on_closed(why);
  // Not under nghttp2's own feet.
  if (session_ != nullptr && !is_in_session_) nghttp2_session_del(session_);
  if (!is_in_session_) session_ = nullptr;
}

void Http2Link::want(bool read, bool write) {
  if (phase_ == Phase::closed || (reads_ == read && writes_ == write)) return;
  reads_ = read;
  writes_ = write;
  poll_.change(link_.fd(), read, write);
}

void Http2Link::on_ready(Ready ready) {
  const auto self = shared_from_this();
  if (phase_ == Phase::connecting) return on_connected();
  if (phase_ == Phase::handshake) return shake_hands();
  if (ready.writable) flush();
  if (phase_ == Phase::open && (ready.readable || link_.has_pending())) receive();
  if (phase_ == Phase::open) pump();
}

void Http2Link::on_connected() {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(link_.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return close(std::generic_category().message(error));
  phase_ = Phase::handshake;
  shake_hands();
}

void Http2Link::shake_hands() {
  switch (link_.handshake()) {
    case Io::done:
      break;
    case Io::needs_readable:
      return want(true, false);
    case Io::needs_writable:
      return want(true, true);
    case Io::failed:
      return close(link_.trouble().text);
    case Io::ended:
      return close("the other side has closed the connection");
  }
  session_ = make_session();
  if (session_ == nullptr) return close("it is not welcome");
  phase_ = Phase::open;
  want(true, false);
  pump();
  // What came with the end of the handshake, and what is to be said to it.
  if (phase_ == Phase::open && link_.has_pending()) receive();
  if (phase_ == Phase::open) pump();
}

void Http2Link::receive() {
  std::array<char, 16 * 1024> bytes;
  for (int i = 0; i < k_turns && phase_ == Phase::open; ++i) {
    size_t got = 0;
    switch (link_.read(bytes.data(), bytes.size(), got)) {
      case Io::done:
        break;
      case Io::needs_readable:
        return;
      case Io::needs_writable:
        return want(true, true);
      case Io::ended:
        return close("the other side has closed the connection");
      case Io::failed:
        return close(link_.trouble().text);
    }
    if (!hear(bytes.data(), got)) return;
  }
  // What TLS has read already the socket will not report again.
  if (phase_ == Phase::open && link_.has_pending()) {
    poll_.post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr || self->phase_ != Phase::open) return;
      self->receive();
      self->pump();
    });
  }
}

bool Http2Link::hear(const char* bytes, size_t size) {
  is_in_session_ = true;
  const auto used =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes), size);
  is_in_session_ = false;
  if (phase_ == Phase::closed) {
    nghttp2_session_del(std::exchange(session_, nullptr));
    return false;
  }
  if (used < 0) {
    pump();  // it may have something to say about that
    close(nghttp2_strerror(static_cast<int>(used)));
    return false;
  }
  return true;
}

void Http2Link::pump() {
  if (is_in_session_) return;
  bool has_more = true;
  while (has_more && phase_ == Phase::open && out_.empty()) {
    has_more = fill();
    flush();
  }
}

// Takes from the session what it has to say; false: that was all.
bool Http2Link::fill() {
  while (out_.size() < k_most_unsent) {
    const uint8_t* bytes = nullptr;
    is_in_session_ = true;
    const auto size = nghttp2_session_mem_send(session_, &bytes);
    is_in_session_ = false;
    if (size < 0) close(nghttp2_strerror(static_cast<int>(size)));
    if (size <= 0) return false;
    out_.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
  return true;
}

void Http2Link::flush() {
  while (phase_ == Phase::open && sent_ < out_.size()) {
    size_t taken = 0;
    const Io io = link_.write(std::string_view(out_).substr(sent_), taken);
    if (io == Io::done) {
      sent_ += taken;
      continue;
    }
    if (io == Io::needs_readable || io == Io::needs_writable) {
      return want(true, io == Io::needs_writable);
    }
    return close(io == Io::ended ? "the other side has closed the connection"
                                 : link_.trouble().text);
  }
  if (phase_ != Phase::open) return;
  out_.clear();
  if (out_.capacity() > k_most_kept) std::string().swap(out_);
  sent_ = 0;
  want(true, false);
  const bool is_over =
      nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
  if (is_over) close("the conversation is over");
}

}  // namespace spillway::net
