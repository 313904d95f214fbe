// Api: the Kubernetes API as a net::Handler. It finds out who asks for what, whether they may, lets
// faults happen, and hands the rest to the verbs below. It needs no socket: the simulator calls
// handle() from its own network.
#pragma once

#include <memory>
#include <string>

#include "embedded/access.h"
#include "embedded/ask.h"
#include "embedded/faults.h"
#include "embedded/objects.h"
#include "embedded/watches.h"
#include "host/lifeline.h"
#include "net/exchange.h"

namespace spillway::embedded {

struct Reply {
  int status = 200;
  std::string body;
  std::string type = "application/json";
};

struct ApiOptions {
  WatchOptions watches = {};
  // How long a request for a version that has not come yet waits for it.
  Duration version_wait = seconds(3);
};

class Api final : public net::Handler {
 public:
  Api(Objects& objects, Access& access, Faults& faults, host::Loop& loop, ApiOptions options);
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  void handle(net::Request request, const net::Peer& peer,
              std::shared_ptr<net::Exchange> exchange) override;
  net::Response refuse(int status, std::string_view reason) override;

  // How a fault cuts the connection of a peer. The exchange is to be dropped after that: a server
  // answers for what is dropped while the connection lives.
  using Cut = std::function<void(const std::string& address, std::shared_ptr<net::Exchange>)>;
  void on_cut(Cut cut) { cut_ = std::move(cut); }
  // Answers what is asked under /debug; without it nothing is there.
  using Debug = std::function<Answer<Reply>(const Ask&)>;
  void on_debug(Debug debug) { debug_ = std::move(debug); }
  // Asked about every document that a caller wants to have, after it is read and before it is
  // kept: as admission webhooks and policies are. `before` is null for what is new.
  using Admission = std::function<Done(const Ask&, model::Node& document, const Object* before)>;
  void on_admission(Admission admission) { admission_ = std::move(admission); }
  // While it is down (restarting) every request's connection is cut.
  void set_down(bool is_down);
  Watches& watches() { return watches_; }

 private:
  using ExchangePtr = std::shared_ptr<net::Exchange>;

  // After faults: runs the verb, or opens the watch.
  void serve(const Ask& ask, const ExchangePtr& exchange, const Fault& fault);
  Answer<Reply> run(const Ask& ask);
  Answer<Reply> run_subresource(const Ask& ask);
  void send(const ExchangePtr& exchange, const Answer<Reply>& reply, const Fault& fault,
            const std::string& peer);
  void wait_for_version(int64_t version, Instant until, std::function<void()> then);

  // reading.cpp
  Answer<Reply> get(const Ask& ask);
  Answer<Reply> list(const Ask& ask);
  // watching.cpp
  void watch(const Ask& ask, const ExchangePtr& exchange, const Fault& fault);
  // writing.cpp
  Answer<Reply> create(const Ask& ask);
  Answer<Reply> update(const Ask& ask);
  Answer<Reply> create_from(const Ask& ask, model::Node document);
  Answer<Reply> replace_with(const Ask& ask, const Object& present, const model::Node& wanted);
  Answer<Reply> patch(const Ask& ask);
  Answer<Reply> apply_patch(const Ask& ask);
  Answer<Reply> remove(const Ask& ask);
  Answer<Reply> remove_all(const Ask& ask);
  Answer<model::Node> patched(const Ask& ask, const model::Node& present);
  // subresources.cpp
  Answer<Reply> bind(const Ask& ask);
  Answer<Reply> evict(const Ask& ask);
  Answer<Reply> finalize(const Ask& ask);
  Answer<Reply> scale(const Ask& ask);
  Answer<Reply> give_token(const Ask& ask);
  // review.cpp
  Answer<Reply> review(const Ask& ask);

  Objects& objects_;
  Access& access_;
  Faults& faults_;
  host::Loop& loop_;
  ApiOptions options_;
  Watches watches_;
  Cut cut_;
  Debug debug_;
  Admission admission_ = [](const Ask&, model::Node&, const Object*) { return Done(); };
  bool is_down_ = false;
  host::Lifeline lifeline_;
};

}  // namespace spillway::embedded
