// A Channel to an embedded cluster, or to any other handler, without a socket. Answers come on the
// loop, as with a real client.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "embedded/cluster.h"
#include "host/loop.h"
#include "net/channel.h"

namespace spillway::test {

class ClusterChannel final : public net::Channel {
 public:
  ClusterChannel(host::Loop& loop, embedded::Cluster& cluster)
      : ClusterChannel(loop, cluster.handler(), {"test:1", nullptr}) {}
  ClusterChannel(host::Loop& loop, net::Handler& handler, net::Peer peer)
      : loop_(loop), handler_(handler), peer_(std::move(peer)) {}

  bool is_cut = false;  // nothing arrives; who waits is told so after a while, as by any client

  void send(net::Request request, net::OnResponse then) override {
    if (is_cut) {
      return loop_.after(seconds(5), [then = std::move(then)] { then(tl::unexpected(gone())); });
    }
    auto exchange = std::make_shared<Plain>();
    exchange->then = [this, then = std::move(then)](net::Response answer) {
      loop_.post([then, answer = std::move(answer)] { then(answer); });
    };
    handler_.handle(std::move(request), peer_, exchange);
  }

  std::unique_ptr<net::Reading> open(net::Request request, net::StreamCalls calls) override {
    auto line = std::make_shared<Line>(loop_);
    line->calls = std::move(calls);
    auto exchange = std::make_shared<Held>();
    exchange->line = line;
    if (!is_cut) handler_.handle(std::move(request), peer_, exchange);
    return std::make_unique<End>(line);
  }

 private:
  static Error gone() { return {Code::unavailable, "cluster", "the connection ended", ""}; }

  // A plain answer, also one that comes piece by piece.
  struct Plain final : net::Exchange, std::enable_shared_from_this<Plain> {
    struct Body final : net::Stream {
      bool send(std::string_view bytes) override {
        whole.body += bytes;
        return true;
      }
      size_t unsent() const override { return 0; }
      void close() override {
        if (then) std::exchange(then, nullptr)(std::move(whole));
      }
      void on_gone(std::function<void()>) override {}
      net::Response whole;
      std::function<void(net::Response)> then;
    };
    void respond(net::Response answer) override { then(std::move(answer)); }
    std::shared_ptr<net::Stream> stream(net::Response head) override {
      auto body = std::make_shared<Body>();
      body->whole = std::move(head);
      body->then = then;
      return body;
    }
    std::function<void(net::Response)> then;
  };

  struct Line final : net::Stream, std::enable_shared_from_this<Line> {
    explicit Line(host::Loop& l) : loop(l) {}
    bool send(std::string_view bytes) override {
      if (is_gone) return false;
      tell([text = std::string(bytes)](const net::StreamCalls& to) { to.on_bytes(text); });
      return true;
    }
    size_t unsent() const override { return 0; }
    void close() override {
      tell([](const net::StreamCalls& to) { to.on_end(gone()); });
      leave();
    }
    void on_gone(std::function<void()> then) override {
      if (is_gone) return then();
      then_ = std::move(then);
    }
    template <class F>
    void tell(F f) {
      loop.post([self = this->shared_from_this(), f = std::move(f)] {
        if (!self->is_dropped) f(self->calls);
      });
    }
    void leave() {
      is_gone = true;
      if (auto then = std::exchange(then_, nullptr)) then();
    }
    host::Loop& loop;
    net::StreamCalls calls;
    bool is_gone = false;
    bool is_dropped = false;  // by the client, who is told nothing any more
    std::function<void()> then_;
  };

  struct Held final : net::Exchange {
    void respond(net::Response answer) override {
      line->tell([answer](const net::StreamCalls& to) { to.on_head(answer); });
      line->close();
    }
    std::shared_ptr<net::Stream> stream(net::Response head) override {
      line->tell([head](const net::StreamCalls& to) { to.on_head(head); });
      return line;
    }
    std::shared_ptr<Line> line;
  };

  struct End final : net::Reading {
    explicit End(std::shared_ptr<Line> l) : line(std::move(l)) {}
    End(const End&) = delete;
    End& operator=(const End&) = delete;
    ~End() override {
      line->is_dropped = true;
      line->leave();
    }
    std::shared_ptr<Line> line;
  };

  host::Loop& loop_;
  net::Handler& handler_;
  net::Peer peer_;
};

}  // namespace spillway::test
