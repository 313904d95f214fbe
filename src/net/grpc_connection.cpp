#include "net/grpc_connection.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <nghttp2/nghttp2.h>

#include "net/http2_field.h"
#include "net/keepalive.h"

namespace spillway::net {
namespace {

constexpr uint32_t k_header_bytes = 16 * 1024;
constexpr int32_t k_window = 1 << 20;  // what may come before we say that we have taken it
constexpr std::string_view k_content_type = "application/grpc";

GrpcConnection& self_of(void* data) { return *static_cast<GrpcConnection*>(data); }

int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* data) {
  const bool is_request =
      frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
  if (is_request) self_of(data).on_begin(frame->hd.stream_id);
  return 0;
}

int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
           const uint8_t* value, size_t value_size, uint8_t, void* data) {
  self_of(data).on_header(frame->hd.stream_id, {reinterpret_cast<const char*>(name), name_size},
                          {reinterpret_cast<const char*>(value), value_size});
  return 0;
}

int data_chunk(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
               void* data) {
  self_of(data).on_data(stream, {reinterpret_cast<const char*>(bytes), size});
  return 0;
}

int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* data) {
  const bool has_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  const bool is_of_request = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
  if (has_end && is_of_request) self_of(data).on_asked(frame->hd.stream_id);
  return 0;
}

int stream_closed(nghttp2_session*, int32_t stream, uint32_t, void* data) {
  self_of(data).on_ended(stream);
  return 0;
}

ssize_t read_data(nghttp2_session* session, int32_t stream, uint8_t* into, size_t size,
                  uint32_t* flags, nghttp2_data_source*, void* data) {
  bool is_last = false;
  const size_t got =
      self_of(data).read_answer(stream, reinterpret_cast<char*>(into), size, is_last);
  if (is_last) {
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const std::array trailers{http2_field("grpc-status", "0")};
    nghttp2_submit_trailer(session, stream, trailers.data(), trailers.size());
  }
  return static_cast<ssize_t>(got);
}

}  // namespace

GrpcConnection::GrpcConnection(GrpcHost& host, int fd, std::string address)
    : Http2Link(host.poll, fd), host_(host) {
  peer_.address = std::move(address);
}

void GrpcConnection::begin(const TlsContext& tls) {
  probe_when_silent(link().fd());
  if (tls != nullptr && !link().start_tls_server(tls.get())) return close("TLS cannot start");
  host_.poll.after(host_.options.handshake, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self != nullptr && !self->is_open()) self->close("the handshake took too long");
  });
  start(false);
}

bool GrpcConnection::is_welcome() {
  if (link().tls() != nullptr) peer_.certificate = peer_certificate(link().tls());
  if (host_.options.trust != GrpcTrust::mutual) return true;
  const Instant now = host_.poll.now();
  return peer_.certificate != nullptr && peer_.certificate->not_before <= now &&
         now < peer_.certificate->not_after;
}

nghttp2_session* GrpcConnection::make_session() {
  if (!is_welcome()) {
    host_.counts.turned_away += 1;
    return nullptr;
  }
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data_chunk);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame_received);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, stream_closed);
  nghttp2_session* made = nullptr;
  nghttp2_session_server_new(&made, callbacks, this);
  nghttp2_session_callbacks_del(callbacks);
  const std::array settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, host_.options.calls_at_once},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, k_header_bytes},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, k_window}};
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, k_window * 4);
  return made;
}

void GrpcConnection::on_closed(const std::string&) {
  for (const auto& [stream, call] : calls_) host_.messages_bytes -= call.body.size();
  calls_.clear();
  host_.gone(*this);
}

void GrpcConnection::on_header(int32_t stream, std::string_view name, std::string_view value) {
  const auto at = calls_.find(stream);
  if (at == calls_.end()) return;
  Call& call = at->second;
  if (name == ":path") call.path = value;
  if (name == ":method") call.method = value;
  if (name == "content-type") call.content_type = value;
  if (name == "grpc-encoding") call.encoding = value;
  if (name == "grpc-timeout") call.timeout = value;
}

void GrpcConnection::on_data(int32_t stream, std::string_view bytes) {
  const auto at = calls_.find(stream);
  if (at == calls_.end() || at->second.is_too_large) return;
  Call& call = at->second;
  const bool fits = call.body.size() + bytes.size() <= host_.options.message_bytes + 5 &&
                    host_.messages_bytes + bytes.size() <= host_.options.messages_bytes;
  if (fits) {
    call.body += bytes;
    host_.messages_bytes += bytes.size();
    return;
  }
  call.is_too_large = true;
  host_.messages_bytes -= call.body.size();
  std::string().swap(call.body);
}

void GrpcConnection::on_ended(int32_t stream) {
  const auto at = calls_.find(stream);
  if (at == calls_.end()) return;
  host_.messages_bytes -= at->second.body.size();
  calls_.erase(at);
}

GrpcAnswer GrpcConnection::judge(const Call& call) const {
  if (call.method != "POST" || !call.content_type.starts_with(k_content_type)) {
    return {GrpcCode::invalid_argument, "this is a gRPC server: POST application/grpc", {}};
  }
  if (call.is_too_large) {
    return {GrpcCode::resource_exhausted,
            fmt::format("the message is larger than {} bytes", host_.options.message_bytes),
            {}};
  }
  if (!call.encoding.empty() && call.encoding != "identity") {
    return {GrpcCode::unimplemented, "compressed messages are not read here", {}};
  }
  return {};
}

void GrpcConnection::on_asked(int32_t stream) {
  has_called_ = true;
  const auto at = calls_.find(stream);
  if (at == calls_.end() || std::exchange(at->second.is_asked, true)) return;
  Call& call = at->second;
  GrpcAnswer refusal = judge(call);
  auto message = refusal.code == GrpcCode::ok ? unframed(call.body) : std::nullopt;
  host_.messages_bytes -= call.body.size();
  std::string().swap(call.body);
  if (!message) {
    host_.counts.refused += 1;
    if (refusal.code == GrpcCode::ok) {
      refusal = {GrpcCode::invalid_argument, "there must be one message, not compressed", {}};
    }
    return reply(stream, std::move(refusal));
  }
  host_.counts.calls += 1;
  GrpcCall asked{call.path, std::move(*message), parse_grpc_timeout(call.timeout), peer_};
  host_.handler.handle(std::move(asked), [weak = weak_from_this(), stream](GrpcAnswer told) {
    const auto self = std::static_pointer_cast<GrpcConnection>(weak.lock());
    if (self != nullptr) self->reply(stream, std::move(told));
  });
}

void GrpcConnection::reply(int32_t stream, GrpcAnswer answer) {
  const auto at = calls_.find(stream);
  if (at == calls_.end() || !is_open()) return;  // it has not waited
  if (answer.code != GrpcCode::ok) {
    const std::string code = std::to_string(static_cast<int>(answer.code));
    const std::string reason = percent_encoded(answer.reason);
    const std::array head{http2_field(":status", "200"),
                          http2_field("content-type", k_content_type),
                          http2_field("grpc-status", code), http2_field("grpc-message", reason)};
    nghttp2_submit_response(session(), stream, head.data(), head.size(), nullptr);
    return pump();
  }
  at->second.prefix = grpc_prefix(answer.message.size());
  at->second.answer = std::move(answer.message);
  const std::array head{http2_field(":status", "200"), http2_field("content-type", k_content_type)};
  nghttp2_data_provider body{};
  body.read_callback = read_data;
  nghttp2_submit_response(session(), stream, head.data(), head.size(), &body);
  pump();
}

size_t GrpcConnection::read_answer(int32_t stream, char* into, size_t size, bool& is_last) {
  is_last = true;
  const auto at = calls_.find(stream);
  if (at == calls_.end()) return 0;
  Call& call = at->second;
  // The one after the other, without a copy of both: an answer may be large.
  size_t count = std::min(size, call.prefix.size());
  std::memcpy(into, call.prefix.data(), count);
  call.prefix.erase(0, count);
  const size_t rest = std::min(size - count, call.answer.size() - call.sent);
  std::memcpy(into + count, call.answer.data() + call.sent, rest);
  call.sent += rest;
  is_last = call.prefix.empty() && call.sent == call.answer.size();
  return count + rest;
}

}  // namespace spillway::net
