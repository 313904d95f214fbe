// Session: a conversation with a broker in a straight line. Asking waits for the answer; the
// connection lives on a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "net/client.h"
#include "net/poll.h"
#include "services/wire/broker_client.h"

namespace spillway::cli {

namespace detail {
template <class T>
struct Asked;
template <class T>
struct Asked<std::function<void(Result<T>)>> {
  using Type = T;
};
template <class... P>
using AnswerOf =
    typename Asked<std::decay_t<std::tuple_element_t<sizeof...(P) - 1, std::tuple<P...>>>>::Type;
}  // namespace detail

class Session {
 public:
  // Connects with the first question.
  static Result<std::unique_ptr<Session>> open(const std::string& url, net::ClientOptions options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // session.ask(&wire::BrokerClient::get_contract, id)
  template <class... P, class... Args>
  Result<detail::AnswerOf<P...>> ask(void (wire::BrokerClient::*question)(P...), Args... args) {
    using T = detail::AnswerOf<P...>;
    return wait<T>([this, question, args...](wire::Then<T> then) {
      (broker_.get()->*question)(args..., std::move(then));
    });
  }
  // What BrokerClient has no call for. A refusal is an answer here.
  Result<net::Response> send(const net::Request& request);

  // Runs `begin` on the connection's thread, and waits until what it was given is called.
  template <class T>
  Result<T> wait(std::function<void(wire::Then<T>)> begin);

  wire::BrokerClient& broker() { return *broker_; }  // on the connection's thread only
  net::Channel& channel() { return *client_; }       // likewise
  void after(Duration delay, net::Task task) { poll_.after(delay, std::move(task)); }

 private:
  Session() = default;

  net::Poll poll_;
  std::unique_ptr<net::Client> client_;
  std::unique_ptr<wire::BrokerClient> broker_;
  std::thread thread_;
};

template <class T>
Result<T> Session::wait(std::function<void(wire::Then<T>)> begin) {
  // Shared: an answer that comes when nobody waits any more finds nothing missing.
  struct Answer {
    std::mutex mutex;
    std::condition_variable came;
    std::optional<Result<T>> result;
  };
  auto answer = std::make_shared<Answer>();
  poll_.post([begin = std::move(begin), answer] {
    begin([answer](Result<T> result) {
      const std::lock_guard lock(answer->mutex);
      if (answer->result) return;
      answer->result.emplace(std::move(result));
      answer->came.notify_one();
    });
  });
  std::unique_lock lock(answer->mutex);
  answer->came.wait(lock, [&answer] { return answer->result.has_value(); });
  return std::move(*answer->result);
}

}  // namespace spillway::cli
