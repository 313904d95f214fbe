// Http2Link: one socket that speaks HTTP/2, either side of it. Framing, flow control and the
// compression of headers are nghttp2's; here its bytes go over a Link, on a Poll.
//
// Who derives from it makes the nghttp2 session and hears its callbacks. Within a callback nothing
// is sent and nothing destroyed: pump() is called when nghttp2 has returned.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/link.h"
#include "net/poll.h"

struct nghttp2_session;

namespace spillway::net {

class Http2Link : public std::enable_shared_from_this<Http2Link> {
 public:
  Http2Link(Poll& poll, int fd);
  virtual ~Http2Link();
  Http2Link(const Http2Link&) = delete;
  Http2Link& operator=(const Http2Link&) = delete;

  // Once; TLS, if any, has been started on link(). `is_connecting`: the socket is not connected
  // yet.
  void start(bool is_connecting);
  void close(const std::string& why);  // once; later calls do nothing
  bool is_closed() const { return phase_ == Phase::closed; }
  bool is_open() const { return phase_ == Phase::open; }
  Link& link() { return link_; }

 protected:
  virtual nghttp2_session* make_session() = 0;  // the handshake is done; settings submitted
  virtual void on_closed(const std::string& why) = 0;
  // Sends what the session has to say, now or when nghttp2 has returned.
  void pump();
  nghttp2_session* session() { return session_; }
  Poll& poll() { return poll_; }

 private:
  enum class Phase : uint8_t { connecting, handshake, open, closed };

  void on_ready(Ready ready);
  void on_connected();
  void shake_hands();
  void receive();
  bool hear(const char* bytes, size_t size);
  bool fill();
  void flush();
  void want(bool read, bool write);

  Poll& poll_;
  Link link_;
  nghttp2_session* session_ = nullptr;
  Phase phase_ = Phase::connecting;
  bool is_watched_ = false;
  bool reads_ = true;
  bool writes_ = false;
  bool is_in_session_ = false;
  std::string out_;
  size_t sent_ = 0;
};

}  // namespace spillway::net
