#include "net/client_connection.h"

#include <cerrno>
#include <system_error>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "net/client_error.h"
#include "net/clock.h"
#include "net/http_text.h"
#include "net/keepalive.h"

namespace spillway::net {
namespace {

constexpr size_t k_header_bytes = 64 * 1024;
constexpr Duration k_keep = seconds(90);  // less than servers keep idle connections
constexpr int k_reads_at_once = 64;

}  // namespace

ClientConnection::~ClientConnection() {
  SPILLWAY_CHECK(phase_ == Phase::closed, "a connection is dropped and not closed");
}

void ClientConnection::enter(Phase phase, Duration deadline) {
  phase_ = phase;
  deadline_ms_ = deadline.ms > 0 ? steady_ms() + deadline.ms : 0;
}

void ClientConnection::want(bool read, bool write) {
  if (reads_ == read && writes_ == write) return;
  reads_ = read;
  writes_ = write;
  host_.poll.change(link_->fd(), read, write);
}

void ClientConnection::start() {
  enter(Phase::resolving, host_.options.connect);
  connect_deadline_ms_ = deadline_ms_;
  host_.resolver.resolve(host_.options.host, host_.options.port,
                         [weak = weak_from_this()](std::vector<Address> found, std::string why) {
                           const auto self = weak.lock();
                           if (self == nullptr || self->phase_ != Phase::resolving) return;
                           if (found.empty())
                             return self->fail(name_error(self->host_.server, why));
                           self->addresses_ = std::move(found);
                           self->connect_next({});
                         });
}

// Each address has its share of the time that is left, so that one that is silent does not use up
// that of the others.
void ClientConnection::connect_next(std::string why) {
  drop_socket();
  while (next_address_ < addresses_.size()) {
    const Address& address = addresses_[next_address_++];
    const int fd = ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      why = std::generic_category().message(errno);
      continue;
    }
    link_ = std::make_unique<Link>(fd);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    probe_when_silent(fd);
    const int result =
        ::connect(fd, reinterpret_cast<const sockaddr*>(&address.bytes), address.size);
    if (result != 0 && errno != EINPROGRESS) {
      why = std::generic_category().message(errno);
      link_.reset();
      continue;
    }
    const auto left = connect_deadline_ms_ - steady_ms();
    const auto shares = static_cast<int64_t>(addresses_.size() - next_address_ + 1);
    enter(Phase::connecting, milliseconds(std::max<int64_t>(left / shares, 1)));
    reads_ = false;
    writes_ = true;
    host_.poll.watch(fd, false, true, [this](Ready ready) { on_ready(ready); });
    return;
  }
  fail(connect_error(host_.server, why));
}

void ClientConnection::drop_socket() {
  if (link_ != nullptr) host_.poll.unwatch(link_->fd());
  link_.reset();
}

void ClientConnection::on_ready(Ready ready) {
  const auto self = shared_from_this();
  switch (phase_) {
    case Phase::connecting:
      return on_connected();
    case Phase::handshake:
      return shake_hands();
    default:
      break;
  }
  if (sent_ < out_.size() && ready.writable) flush();
  if (phase_ != Phase::closed && (ready.readable || link_->has_pending())) receive();
}

void ClientConnection::on_connected() {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(link_->fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return connect_next(std::generic_category().message(error));
  enter(Phase::handshake, {});
  deadline_ms_ = connect_deadline_ms_;
  if (host_.tls != nullptr) {
    const std::string& name = host_.options.server_name;
    if (!link_->start_tls_client(host_.tls.get(), name)) {
      return fail(connect_error(host_.server, "TLS cannot start for the name " + name));
    }
    if (!host_.sessions.empty()) {
      offer_session(link_->tls(), host_.sessions.back());
      if (host_.sessions.size() > 1) host_.sessions.pop_back();
    }
  }
  shake_hands();
}

void ClientConnection::shake_hands() {
  switch (link_->handshake()) {
    case Io::done:
      break;
    case Io::needs_readable:
      return want(true, false);
    case Io::needs_writable:
      return want(false, true);
    case Io::failed:
      return fail(link_error(host_.server, link_->trouble(), false));
    case Io::ended:
      return fail(ended_error(host_.server, false));
  }
  was_connected_ = true;
  ++host_.counts.opened;
  if (link_->tls() != nullptr && is_resumed(link_->tls())) ++host_.counts.resumed;
  want(true, false);
  enter(Phase::idle, k_keep);
  host_.ready(*this);
}

void ClientConnection::begin(Errand errand) {
  errand_ = std::move(errand);
  has_head_ = false;
  has_byte_ = false;
  parser_ = std::make_unique<ResponseParser>(ParseLimits{k_header_bytes, host_.options.max_body},
                                             errand_->request.method == "HEAD");
  append_request(out_, errand_->request, host_.host_field);
  enter(Phase::asking, host_.options.answer);
  // Not at once: nobody is called from within send().
  host_.poll.post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self != nullptr && self->phase_ == Phase::asking) self->flush();
  });
}

void ClientConnection::flush() {
  while (sent_ < out_.size()) {
    size_t taken = 0;
    const Io io = link_->write(std::string_view(out_).substr(sent_), taken);
    if (io == Io::done) {
      sent_ += taken;
      continue;
    }
    if (io == Io::needs_readable) return want(true, false);
    if (io == Io::needs_writable) return want(true, true);
    // Why it does not listen may be there to read.
    const auto self = shared_from_this();
    const Trouble trouble = link_->trouble();
    receive();
    return fail(link_error(host_.server, trouble, true), !has_byte_);
  }
  std::string().swap(out_);
  sent_ = 0;
  want(true, false);
}

void ClientConnection::receive() {
  const auto self = shared_from_this();
  for (int i = 0; i < k_reads_at_once; ++i) {
    size_t got = 0;
    const Io io = link_->read(host_.scratch.data(), host_.scratch.size(), got);
    if (io == Io::needs_readable) return;
    if (io == Io::needs_writable) return want(true, true);
    if (io == Io::ended) return on_input_end();
    if (io == Io::failed) {
      return fail(link_error(host_.server, link_->trouble(), true), !has_byte_);
    }
    if (!take({host_.scratch.data(), got})) return;
    if (got < host_.scratch.size() && !link_->has_pending()) return;
  }
  host_.poll.post([weak = weak_from_this()] {
    const auto later = weak.lock();
    if (later != nullptr && later->phase_ >= Phase::idle && later->phase_ != Phase::closed) {
      later->receive();
    }
  });
}

// False: not to be read on.
bool ClientConnection::take(std::string_view bytes) {
  if (phase_ != Phase::asking) {
    // Nobody has asked for it.
    fail(answer_error(host_.server, "it speaks without being asked"));
    return false;
  }
  has_byte_ = true;
  if (in_.empty()) {
    bytes.remove_prefix(parser_->feed(bytes));
    in_ = bytes;
  } else {
    in_ += bytes;
    in_.erase(0, parser_->feed(in_));
  }
  return deliver();
}

bool ClientConnection::deliver() {
  const Parsed state = parser_->state();
  if (state == Parsed::refused) {
    fail(answer_error(host_.server, parser_->refusal().reason));
    return false;
  }
  if (state == Parsed::head) return true;
  if (errand_->calls && (has_head_ || parser_->response().status == 200)) {
    if (!has_head_) {
      has_head_ = true;
      parser_->stream_body();
      if (errand_->calls->on_head) errand_->calls->on_head(parser_->response());
    }
    if (is_abandoned_) return false;
    enter(Phase::asking, host_.options.silence);
    const std::string body = parser_->take_body();
    if (!body.empty() && errand_->calls->on_bytes) errand_->calls->on_bytes(body);
    if (is_abandoned_) return false;
  }
  if (state != Parsed::done) return true;
  finish_errand();
  return phase_ == Phase::idle || phase_ == Phase::asking;
}

void ClientConnection::on_input_end() {
  if (phase_ == Phase::asking && has_byte_) {
    parser_->end_of_input();
    if (parser_->state() == Parsed::done) {
      is_let_go_ = true;
      deliver();
      return;
    }
  }
  fail(ended_error(host_.server, true), !has_byte_);
}

void ClientConnection::finish_errand() {
  const auto self = shared_from_this();
  Errand errand = std::move(*errand_);
  errand_.reset();
  const bool is_kept =
      parser_->keeps_alive() && out_.empty() && in_.empty() && !is_let_go_ && !is_stream_;
  Response response = std::move(parser_->response());
  if (!has_head_) response.body = parser_->take_body();
  parser_.reset();
  ++answered_;
  if (is_kept) {
    enter(Phase::idle, k_keep);
  } else {
    fail(ended_error(host_.server, true));
  }
  if (errand.calls) {
    if (!has_head_ && errand.calls->on_head) errand.calls->on_head(response);
    if (!is_abandoned_ && errand.calls->on_end) {
      errand.calls->on_end({Code::gone, host_.server, "the stream has ended", "open it again"});
    }
  } else if (!is_abandoned_) {
    errand.then(std::move(response));
  }
  if (phase_ == Phase::idle) host_.ready(*this);
}

void ClientConnection::fail(const Error& why, bool may_retry) {
  if (phase_ == Phase::closed) return;
  const auto self = shared_from_this();
  phase_ = Phase::closed;
  drop_socket();
  std::optional<Errand> errand;
  if (!is_abandoned_) errand = std::exchange(errand_, std::nullopt);
  host_.gone(*this, std::move(errand), may_retry && answered_ > 0, why);
}

void ClientConnection::abandon() {
  is_abandoned_ = true;
  if (phase_ == Phase::closed) return;
  // What it calls may be running just now: it is kept until that is over.
  host_.poll.post([self = shared_from_this()] {});
  fail(ended_error(host_.server, true));
}

void ClientConnection::let_go() {
  is_let_go_ = true;
  if (phase_ == Phase::idle) fail(ended_error(host_.server, true));
}

void ClientConnection::check_deadline(int64_t now_ms) {
  if (deadline_ms_ == 0 || now_ms < deadline_ms_) return;
  const auto& options = host_.options;
  switch (phase_) {
    case Phase::resolving:
    case Phase::handshake:
      return fail(late_error(host_.server, "no connection", options.connect));
    case Phase::connecting:
      if (next_address_ < addresses_.size()) return connect_next("it does not answer");
      return fail(late_error(host_.server, "no connection", options.connect));
    case Phase::asking:
      return fail(has_head_ ? late_error(host_.server, "nothing came", options.silence)
                            : late_error(host_.server, "no answer", options.answer));
    default:
      return fail(ended_error(host_.server, true));
  }
}

}  // namespace spillway::net
