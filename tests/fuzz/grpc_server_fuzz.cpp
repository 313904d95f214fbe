// Any bytes as what a client sends on a connection of the gRPC server: each call that the handler
// hears of is one message within the limits, answers may come at once, later or when the client is
// gone, and when the connection has ended nothing of it is left.
//
// The first byte chooses: bit 0, raw bytes after HTTP/2's preface; else frames are made of them,
// each from a type, flags, a stream, a length and its payload, with type 15 for the headers of a
// call; bits 1 and 2, when the handler answers.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"
#include "net/grpc_connection.h"

namespace spillway::net {
namespace {

constexpr std::string_view k_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t k_message_bytes = 300;
constexpr size_t k_messages_bytes = 500;
enum Frame : uint8_t { k_headers = 1, k_settings = 4, k_call = 15 };

void append_frame(std::string& out, uint8_t type, uint8_t flags, uint8_t stream,
                  std::string_view payload) {
  const size_t size = payload.size();
  out += {static_cast<char>(size >> 16), static_cast<char>(size >> 8), static_cast<char>(size),
          static_cast<char>(type), static_cast<char>(flags)};
  out += std::string(3, '\0') + static_cast<char>(stream);
  out += payload;
}

// A field of a header that is in no table: HPACK's plainest form.
void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += '\0';
  out += static_cast<char>(name.size());
  out += name;
  out += static_cast<char>(value.size());
  out += value;
}

std::string call_headers() {
  std::string block;
  append_field(block, ":method", "POST");
  append_field(block, ":scheme", "http");
  append_field(block, ":path", "/t.T/Echo");
  append_field(block, ":authority", "x");
  append_field(block, "content-type", "application/grpc");
  append_field(block, "grpc-timeout", "5S");
  return block;
}

std::string frames_of(std::string_view rest) {
  static const std::string k_block = call_headers();
  constexpr uint8_t k_end_headers = 4;
  constexpr size_t k_head = 4;
  std::string out(k_preface);
  append_frame(out, k_settings, 0, 0, {});
  while (rest.size() >= k_head) {
    const auto type = static_cast<uint8_t>(rest[0] & 15);
    const auto flags = static_cast<uint8_t>(rest[1]);
    const auto stream = static_cast<uint8_t>(rest[2]);
    const std::string_view payload = rest.substr(k_head, static_cast<unsigned char>(rest[3]));
    rest.remove_prefix(k_head + payload.size());
    if (type == k_call) {
      append_frame(out, k_headers, flags | k_end_headers, stream, k_block);
    } else {
      append_frame(out, type, flags, stream, payload);
    }
  }
  return out;
}

enum class When { at_once, posted, at_the_end, never };

class Echoing final : public GrpcHandler {
 public:
  Echoing(Poll& poll, When when) : poll_(poll), when_(when) {}
  void handle(GrpcCall call, Reply reply) override {
    ++calls;
    SPILLWAY_CHECK(call.message.size() <= k_message_bytes, "a message over the limit");
    SPILLWAY_CHECK(!call.within || call.within->ms > 0, "nobody waits that long");
    GrpcAnswer told{GrpcCode::ok, {}, call.message + call.message};
    if (call.message.size() % 3 == 1) told = {GrpcCode::internal, call.method, {}};
    if (when_ == When::at_once) return reply(std::move(told));
    if (when_ == When::posted) return poll_.post([=] { reply(told); });
    kept.push_back([=] { reply(told); });
  }
  uint64_t calls = 0;
  std::vector<std::function<void()>> kept;

 private:
  Poll& poll_;
  When when_;
};

class OneClient final : public GrpcHost {
 public:
  using GrpcHost::GrpcHost;
  void gone(GrpcConnection&) override {
    ++ends;
    poll.stop();
  }
  int ends = 0;
};

// The far end of the connection: says all at once, hears what is answered, and ends when the loop
// has had some turns with nothing else to do.
class Client {
 public:
  Client(Poll& poll, std::string_view bytes) : poll_(poll) {
    std::array<int, 2> pair{};
    const int made = ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data());
    SPILLWAY_CHECK(made == 0, "no sockets");
    near_ = pair[0];
    fd_ = pair[1];
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    SPILLWAY_CHECK(sent > 0, "the socket takes nothing");
    turn(k_turns);
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  int near_end() const { return near_; }

 private:
  static constexpr int k_turns = 8;

  void turn(int left) {
    std::array<char, 4096> heard{};
    while (::recv(fd_, heard.data(), heard.size(), 0) > 0) continue;
    if (left == 0) {
      ::shutdown(fd_, SHUT_WR);
    } else {
      poll_.post([this, left] { turn(left - 1); });
    }
  }

  Poll& poll_;
  int near_ = -1;  // the server takes it over
  int fd_ = -1;
};

void run(uint8_t how, std::string_view bytes) {
  const std::string said = (how & 1) != 0 ? std::string(k_preface).append(bytes) : frames_of(bytes);
  Poll poll;
  Echoing handler(poll, static_cast<When>(how >> 1 & 3));
  GrpcServerOptions options;
  options.trust = GrpcTrust::none;
  options.message_bytes = k_message_bytes;
  options.messages_bytes = k_messages_bytes;
  options.calls_at_once = 5;
  OneClient host(poll, handler, options);
  const Client client(poll, said);
  const auto connection = std::make_shared<GrpcConnection>(host, client.near_end(), "fuzz");
  connection->begin({});
  poll.run();
  SPILLWAY_CHECK(host.ends == 1 && connection->is_closed(), "it has not ended once");
  for (const auto& reply : handler.kept) reply();
  SPILLWAY_CHECK(host.messages_bytes == 0, "bytes of messages are still counted");
  SPILLWAY_CHECK(host.counts.calls == handler.calls, "a call is not counted");
}

}  // namespace
}  // namespace spillway::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t k_most = 32 * 1024;
  if (size == 0 || size > k_most) return 0;
  spillway::net::run(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
