// A Channel into an embedded cluster without a socket: requests arrive in the loop's next turn, and
// so do answers. A cluster that is away breaks what is under way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "embedded/cluster.h"
#include "kube/access.h"
#include "net/channel.h"
#include "net/exchange.h"
#include "pki/certificate.h"

namespace spillway::test {

inline Error broken_connection() {
  return Error{Code::unavailable, "connection", "it broke", "try again"};
}

// The client's side of one request; it ends with the client.
struct Hanging {
  host::Loop* loop = nullptr;
  net::OnResponse then;    // of a plain request
  net::StreamCalls calls;  // of a stream
  bool is_over = false;
  void end() {
    if (std::exchange(is_over, true)) return;
    if (then) then(tl::unexpected(broken_connection()));
    if (calls.on_end) calls.on_end(broken_connection());
  }
};

class ChannelStream final : public net::Stream {
 public:
  explicit ChannelStream(std::weak_ptr<Hanging> client, host::Loop& loop)
      : client_(std::move(client)), loop_(loop) {}
  ~ChannelStream() override { close(); }
  bool send(std::string_view bytes) override {
    if (client_.expired()) return false;
    loop_.post([client = client_, text = std::string(bytes)] {
      const auto held = client.lock();
      if (held && !held->is_over) held->calls.on_bytes(text);
    });
    return true;
  }
  size_t unsent() const override { return 0; }
  void close() override {
    loop_.post([client = client_] {
      if (const auto held = client.lock()) held->end();
    });
  }
  void on_gone(std::function<void()> then) override { gone_ = std::move(then); }

 private:
  std::weak_ptr<Hanging> client_;
  host::Loop& loop_;
  std::function<void()> gone_;
};

class ChannelExchange final : public net::Exchange {
 public:
  ChannelExchange(std::weak_ptr<Hanging> client, host::Loop& loop)
      : client_(std::move(client)), loop_(loop) {}
  ~ChannelExchange() override {
    if (is_answered_) return;
    loop_.post([client = client_] {
      if (const auto held = client.lock()) held->end();
    });
  }
  void respond(net::Response response) override {
    is_answered_ = true;
    loop_.post([client = client_, response = std::move(response)] {
      const auto held = client.lock();
      if (!held || held->is_over) return;
      if (held->then) {
        held->is_over = true;
        return held->then(response);
      }
      held->calls.on_head(response);
      held->end();
    });
  }
  std::shared_ptr<net::Stream> stream(net::Response head) override {
    is_answered_ = true;
    loop_.post([client = client_, head = std::move(head)] {
      const auto held = client.lock();
      if (held && !held->is_over) held->calls.on_head(head);
    });
    return std::make_shared<ChannelStream>(client_, loop_);
  }

 private:
  std::weak_ptr<Hanging> client_;
  host::Loop& loop_;
  bool is_answered_ = false;
};

class DialledChannel final : public net::Channel {
 public:
  // `find` answers null when nobody is there.
  DialledChannel(host::Loop& loop, std::function<embedded::Cluster*()> find, net::Peer peer)
      : loop_(loop), find_(std::move(find)), peer_(std::move(peer)) {}

  void send(net::Request request, net::OnResponse then) override {
    auto client = std::make_shared<Hanging>();
    client->then = std::move(then);
    ask(std::move(request), client);
    held_.insert(client);
    auto& after = client->then;
    after = [this, alive = std::weak_ptr<bool>(alive_), key = client.get(),
             call = std::move(after)](Result<net::Response> answer) {
      call(std::move(answer));
      if (alive.expired()) return;
      std::erase_if(held_, [key](const auto& one) { return one.get() == key; });
    };
  }
  std::unique_ptr<net::Reading> open(net::Request request, net::StreamCalls calls) override {
    struct Open final : net::Reading {
      std::shared_ptr<Hanging> client;
    };
    auto made = std::make_unique<Open>();
    made->client = std::make_shared<Hanging>();
    made->client->calls = std::move(calls);
    ask(std::move(request), made->client);
    return made;
  }

 private:
  void ask(net::Request request, const std::shared_ptr<Hanging>& client) {
    loop_.post([find = find_, peer = peer_, &loop = loop_, request = std::move(request),
                weak = std::weak_ptr<Hanging>(client)]() mutable {
      if (weak.expired()) return;
      auto exchange = std::make_shared<ChannelExchange>(weak, loop);
      embedded::Cluster* cluster = find();
      if (cluster != nullptr) cluster->handler().handle(std::move(request), peer, exchange);
    });
  }

  host::Loop& loop_;
  std::function<embedded::Cluster*()> find_;
  net::Peer peer_;
  std::set<std::shared_ptr<Hanging>> held_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// As a server sees who has this certificate.
inline net::Peer peer_with(const std::string& certificate_pem) {
  const auto facts = pki::read_certificate(certificate_pem);
  SPILLWAY_CHECK(facts.has_value(), "a certificate cannot be read");
  auto shown = std::make_shared<net::PeerCertificate>();
  shown->uri = facts->uri;
  shown->key = facts->key_fingerprint;
  shown->serial = facts->serial;
  shown->not_before = facts->not_before;
  shown->not_after = facts->not_after;
  return {"liqo:1", shown};
}

}  // namespace spillway::test
