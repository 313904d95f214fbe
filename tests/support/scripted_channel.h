// A Channel in memory: a test answers every request, and drives the stream by hand. Answers come
// on the loop, never from within send() or open(), as with a real client.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/loop.h"
#include "net/channel.h"

namespace spillway::test {

inline tl::unexpected<Error> lost() {
  return fail(Code::unavailable, "broker", "the connection broke", "ask again");
}

class ScriptedChannel : public net::Channel {
 public:
  // Empty: never answered.
  using Script = std::function<std::optional<Result<net::Response>>(const net::Request&)>;
  struct Asked {
    net::Request request;
    Instant at;
  };

  explicit ScriptedChannel(host::Loop& loop) : loop_(loop) {}

  Script script;
  std::vector<Asked> asked;  // streams too

  void send(net::Request request, net::OnResponse then) override {
    asked.push_back({request, loop_.now()});
    loop_.post([this, request = std::move(request), then = std::move(then)] {
      if (auto answer = script(request)) then(std::move(*answer));
    });
  }

  std::unique_ptr<net::Reading> open(net::Request request, net::StreamCalls calls) override {
    asked.push_back({request, loop_.now()});
    auto reading = std::make_unique<ScriptedReading>(*this);
    reading->calls = std::move(calls);
    reading_ = reading.get();
    loop_.post([this, which = reading.get(), request = std::move(request)] {
      if (reading_ != which) return;
      auto head = script(request);
      if (!head) return;
      if (!*head) return end(head->error());
      const auto on_head = which->calls.on_head;
      on_head(**head);
    });
    return reading;
  }

  bool has_stream() const { return reading_ != nullptr; }
  void stream(std::string_view bytes) {
    if (reading_ != nullptr) reading_->calls.on_bytes(bytes);
  }
  void end(const Error& why) {
    if (reading_ == nullptr) return;
    const auto on_end = std::exchange(reading_, nullptr)->calls.on_end;
    on_end(why);
  }

  // "PUT /v1/pools": how often that was asked, by the beginning of it.
  int64_t count(const std::string& beginning) const {
    int64_t n = 0;
    for (const Asked& one : asked) {
      n += (one.request.method + " " + one.request.target).starts_with(beginning) ? 1 : 0;
    }
    return n;
  }

 private:
  struct ScriptedReading : net::Reading {
    explicit ScriptedReading(ScriptedChannel& owner) : channel(owner) {}
    ScriptedReading(const ScriptedReading&) = delete;
    ScriptedReading& operator=(const ScriptedReading&) = delete;
    ~ScriptedReading() override {
      if (channel.reading_ == this) channel.reading_ = nullptr;
    }
    ScriptedChannel& channel;
    net::StreamCalls calls;
  };

  host::Loop& loop_;
  ScriptedReading* reading_ = nullptr;
};

}  // namespace spillway::test
