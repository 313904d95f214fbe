#include "net/grpc_client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>

#include "net/http2_field.h"
#include "net/http2_link.h"
#include "net/keepalive.h"
#include "net/listener.h"
#include "net/resolver.h"

namespace spillway::net {
namespace {

struct Errand {
  std::string method;
  std::string body;
  Duration within;
  GrpcClient::Then then;
  size_t sent = 0;
  std::string answer;
  std::optional<int> status;
  std::string reason;
};
using ErrandPtr = std::shared_ptr<Errand>;

// Its timer keeps the errand until its time is up, but not what was said.
void finish(const ErrandPtr& errand, GrpcAnswer told) {
  std::string().swap(errand->answer);
  if (const auto then = std::exchange(errand->then, nullptr)) then(std::move(told));
}

GrpcAnswer lost(std::string why) { return {GrpcCode::unavailable, std::move(why), {}}; }

GrpcAnswer answer_of(const Errand& errand) {
  if (!errand.status) return {GrpcCode::internal, "the server has said no grpc-status", {}};
  if (*errand.status != 0) {
    const bool known = *errand.status > 0 && *errand.status <= 16;
    return {known ? static_cast<GrpcCode>(*errand.status) : GrpcCode::unknown, errand.reason, {}};
  }
  auto message = unframed(errand.answer);
  if (!message) return {GrpcCode::internal, "the server has not sent one whole message", {}};
  return {GrpcCode::ok, {}, std::move(*message)};
}

class ClientLink final : public Http2Link {
 public:
  ClientLink(Poll& poll, int fd, std::string authority, bool has_tls, size_t message_bytes)
      : Http2Link(poll, fd),
        authority_(std::move(authority)),
        has_tls_(has_tls),
        message_bytes_(message_bytes) {}

  void send(const ErrandPtr& errand) {
    if (is_closed()) return finish(errand, lost(why_closed_));
    if (!is_open()) return waiting_.push_back(errand);
    submit(errand);
    pump();
  }
  void give_up(const ErrandPtr& errand) {
    std::erase(waiting_, errand);
    for (const auto& [stream, sent] : errands_) {
      if (sent != errand) continue;
      nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
      return pump();
    }
  }

  Errand* find(int32_t stream) {
    const auto at = errands_.find(stream);
    return at == errands_.end() ? nullptr : at->second.get();
  }
  void on_header(int32_t stream, std::string_view name, std::string_view value) {
    Errand* errand = find(stream);
    if (errand == nullptr) return;
    if (name == "grpc-status") errand->status = std::atoi(std::string(value).c_str());
    if (name == "grpc-message") errand->reason = percent_decoded(value);
    if (name == ":status" && value != "200" && !errand->status) {
      errand->status = static_cast<int>(GrpcCode::unknown);
      errand->reason = fmt::format("HTTP status {}", value);
    }
  }
  void on_data(int32_t stream, std::string_view bytes) {
    Errand* errand = find(stream);
    if (errand != nullptr && errand->answer.size() + bytes.size() <= message_bytes_ + 5) {
      errand->answer += bytes;
    }
  }
  void on_ended(int32_t stream, uint32_t error) {
    const auto at = errands_.find(stream);
    if (at == errands_.end()) return;
    const ErrandPtr errand = at->second;
    errands_.erase(at);
    GrpcAnswer told =
        error != 0 && !errand->status
            ? lost(fmt::format("the call was reset ({})", nghttp2_http2_strerror(error)))
            : answer_of(*errand);
    // Not from within nghttp2.
    poll().post([errand, told = std::move(told)] { finish(errand, told); });
  }

 private:
  nghttp2_session* make_session() override;
  void submit(const ErrandPtr& errand);
  void on_closed(const std::string& why) override {
    why_closed_ = why;
    for (const auto& [stream, errand] : errands_) waiting_.push_back(errand);
    errands_.clear();
    for (const ErrandPtr& errand : std::exchange(waiting_, {})) {
      poll().post([errand, why] { finish(errand, lost(why)); });
    }
  }

  std::string authority_;
  bool has_tls_;
  size_t message_bytes_;
  std::string why_closed_;
  std::vector<ErrandPtr> waiting_;  // for the handshake
  std::map<int32_t, ErrandPtr> errands_;
};

ClientLink& self_of(void* data) { return *static_cast<ClientLink*>(data); }

int answer_header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                  size_t name_size, const uint8_t* value, size_t value_size, uint8_t, void* data) {
  self_of(data).on_header(frame->hd.stream_id, {reinterpret_cast<const char*>(name), name_size},
                          {reinterpret_cast<const char*>(value), value_size});
  return 0;
}

int answer_data(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
                void* data) {
  self_of(data).on_data(stream, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}

int answer_ended(nghttp2_session*, int32_t stream, uint32_t error, void* data) {
  self_of(data).on_ended(stream, error);
  return 0;
}

ssize_t read_request(nghttp2_session*, int32_t stream, uint8_t* into, size_t size, uint32_t* flags,
                     nghttp2_data_source*, void* data) {
  Errand* errand = self_of(data).find(stream);
  if (errand == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const size_t count = std::min(size, errand->body.size() - errand->sent);
  std::memcpy(into, errand->body.data() + errand->sent, count);
  errand->sent += count;
  if (errand->sent == errand->body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(count);
}

nghttp2_session* ClientLink::make_session() {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, answer_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, answer_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, answer_ended);
  nghttp2_session* made = nullptr;
  nghttp2_session_client_new(&made, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  constexpr int32_t k_window = 1 << 20;
  const std::array settings{nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                            nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, k_window}};
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, k_window * 4);
  // Those that wait are sent when this has returned and the session is ours.
  poll().post([weak = weak_from_this()] {
    const auto self = std::static_pointer_cast<ClientLink>(weak.lock());
    if (self == nullptr || !self->is_open()) return;
    for (const ErrandPtr& errand : std::exchange(self->waiting_, {})) self->submit(errand);
    self->pump();
  });
  return made;
}

void ClientLink::submit(const ErrandPtr& errand) {
  const std::string timeout = grpc_timeout(errand->within);
  const std::array head{http2_field(":method", "POST"),
                        http2_field(":scheme", has_tls_ ? "https" : "http"),
                        http2_field(":path", errand->method),
                        http2_field(":authority", authority_),
                        http2_field("content-type", "application/grpc"),
                        http2_field("te", "trailers"),
                        http2_field("grpc-timeout", timeout)};
  nghttp2_data_provider body{};
  body.read_callback = read_request;
  const int32_t stream =
      nghttp2_submit_request(session(), nullptr, head.data(), head.size(), &body, nullptr);
  if (stream < 0) {
    poll().post([errand, stream] { finish(errand, lost(nghttp2_strerror(stream))); });
    return;
  }
  errands_[stream] = errand;
}

}  // namespace

class GrpcClient::Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(Poll& poll, GrpcClientOptions options)
      : poll_(poll), options_(std::move(options)), resolver_(poll) {
    if (options_.server_name.empty()) options_.server_name = options_.host;
    if (options_.tls != nullptr) ask_for_http2(options_.tls.get());
  }

  void send(const ErrandPtr& errand) {
    poll_.after(errand->within, [weak = weak_from_this(), errand] {
      if (errand->then == nullptr) return;
      const auto self = weak.lock();
      if (self == nullptr) return;
      std::erase(self->waiting_, errand);
      if (self->link_ != nullptr) self->link_->give_up(errand);
      finish(errand, {GrpcCode::deadline_exceeded, "no answer came in time", {}});
    });
    if (link_ != nullptr && !link_->is_closed()) return link_->send(errand);
    waiting_.push_back(errand);
    if (waiting_.size() == 1) resolve();
  }

  void end() {
    is_ended_ = true;
    for (const ErrandPtr& errand : waiting_) errand->then = nullptr;
    if (link_ != nullptr) link_->close("the client ends");
  }
  bool is_ended() const { return is_ended_; }

 private:
  void resolve() {
    resolver_.resolve(options_.host, options_.port,
                      [this](const std::vector<Address>& found, const std::string& why) {
                        if (found.empty()) return fail_waiting(why);
                        connect(found.front());
                      });
  }

  void connect(const Address& address) {
    const int fd = ::socket(address.bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return fail_waiting(std::generic_category().message(errno));
    link_ = std::make_shared<ClientLink>(poll_, fd, with_port(options_.host, options_.port),
                                         options_.tls != nullptr, options_.message_bytes);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    probe_when_silent(fd);
    const int result =
        ::connect(fd, reinterpret_cast<const sockaddr*>(&address.bytes), address.size);
    if (result != 0 && errno != EINPROGRESS) {
      link_->close(std::generic_category().message(errno));
    } else if (options_.tls != nullptr &&
               !link_->link().start_tls_client(options_.tls.get(), options_.server_name)) {
      link_->close("TLS cannot start for the name " + options_.server_name);
    }
    for (const ErrandPtr& errand : std::exchange(waiting_, {})) link_->send(errand);
    if (link_->is_closed()) return;
    link_->start(true);
    poll_.after(options_.connect, [weak = std::weak_ptr<ClientLink>(link_)] {
      const auto link = weak.lock();
      if (link != nullptr && !link->is_open()) link->close("no connection came about in time");
    });
  }

  void fail_waiting(const std::string& why) {
    for (const ErrandPtr& errand : std::exchange(waiting_, {})) finish(errand, lost(why));
  }

  Poll& poll_;
  GrpcClientOptions options_;
  Resolver resolver_;
  std::shared_ptr<ClientLink> link_;
  std::vector<ErrandPtr> waiting_;  // for an address
  bool is_ended_ = false;
};

GrpcClient::GrpcClient(Poll& poll, GrpcClientOptions options)
    : core_(std::make_shared<Core>(poll, std::move(options))) {}
GrpcClient::~GrpcClient() { core_->end(); }

void GrpcClient::call(std::string method, std::string_view message, Duration within, Then then) {
  auto errand = std::make_shared<Errand>();
  errand->method = std::move(method);
  errand->body = framed(message);
  errand->within = within;
  // Nobody is called once the client is gone.
  errand->then = [weak = std::weak_ptr<Core>(core_), then = std::move(then)](GrpcAnswer told) {
    const auto core = weak.lock();
    if (core != nullptr && !core->is_ended()) then(std::move(told));
  };
  core_->send(errand);
}

}  // namespace spillway::net
