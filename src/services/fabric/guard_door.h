// GuardDoor: answers an API server's AdmissionReviews by the guard's rules
// (fabric/liqo/guard_review.h). For each it looks up the namespace, and the record where a rule
// needs it; what cannot be looked up in time is refused. It keeps nothing, so that any number of
// agents can answer at once.
//
// What is in a review was written by a buyer: bodies, the values in one, and those in all that wait
// for a look-up are bounded.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "fabric/liqo/guard_review.h"
#include "host/lifeline.h"
#include "kube/api.h"
#include "net/exchange.h"
#include "net/server.h"
#include "services/log.h"
#include "services/metrics.h"

namespace spillway::agent {

class GuardDoor final : public net::Handler {
 public:
  // An API server takes requests of up to 3 MiB, and sends what was there before with it.
  static constexpr size_t k_most_bytes = size_t{8} << 20;
  static constexpr size_t k_most_values = 200'000;          // of one review, as JSON counts them
  static constexpr size_t k_most_waiting_values = 400'000;  // of all that wait
  // Of looking up; well within what an API server waits for us.
  static constexpr Duration k_patience = seconds(3);
  // So long nothing more is logged of what cannot be looked up.
  static constexpr Duration k_quiet = minutes(1);

  // `api` gives up after k_patience.
  GuardDoor(kube::Api& api, services::Log& log, services::Metrics& metrics);

  // What a port for it needs, but for where it is.
  static net::ServerLimits limits();

  void handle(net::Request request, const net::Peer& peer,
              std::shared_ptr<net::Exchange> exchange) override;
  net::Response refuse(int status, std::string_view reason) override;

 private:
  struct Asked;
  void look_up_space(const std::shared_ptr<Asked>& asked);
  void look_up_record(const std::shared_ptr<Asked>& asked);
  void judge(const Asked& asked);
  void give_up(const Asked& asked, const Error& why);
  void tell(const Error& why);

  kube::Api& api_;
  services::Log& log_;
  fabric::liqo::Guard guard_;
  services::Counter& passed_;
  services::Counter& refused_;
  services::Counter& failed_;
  size_t waiting_values_ = 0;
  std::optional<Instant> told_;  // when a trouble was logged last
  host::Lifeline life_;
};

// How many values a JSON document has at most; what is in strings does not count.
size_t values_in(std::string_view json);

}  // namespace spillway::agent
