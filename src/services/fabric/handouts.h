// Handouts: tokens of the accounts that buyers come by (fabric/account.h). They are kept here, in
// memory, and nowhere else: who is started again asks for others, and those that nobody has used
// expire.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "fabric/seller.h"
#include "host/backoff.h"
#include "host/lifeline.h"
#include "kube/api.h"
#include "services/fabric/handshake_options.h"

namespace spillway::agent {

class Handouts {
 public:
  // So long a refusal stands for the next ones: who comes meanwhile need not ask in vain first.
  static constexpr Duration k_refused_for = minutes(10);

  Handouts(kube::Api& api, HandshakeOptions options,
           std::function<void(const std::string& buyer)> changed)
      : api_(api), options_(std::move(options)), changed_(std::move(changed)) {}

  bool is_on() const { return !options_.server.empty(); }
  // Whether the whole guard is in force. True: that is news.
  bool set_guarded(bool is_guarded);
  fabric::HandOut of(const std::string& buyer, const fabric::SellerSight& sight) const;
  void asked_again(const std::string& buyer);  // by a buyer that lets one expire
  // Asks for one, where the plan needs it; what stands in the way is one of its troubles.
  void issue(const fabric::SellerSight& sight, const std::string& buyer, fabric::Plan& plan);
  void forget(const std::string& buyer) { given_.erase(buyer); }

 private:
  struct Given {
    std::optional<fabric::Issued> issued = {};
    bool is_under_way = false;
    Instant due = {};
    host::Backoff backoff = {};
    std::optional<Error> refused = {};
    Instant refused_at = {};
  };
  void on_token(const std::string& buyer, const std::string& account,
                const Result<kube::Token>& token);

  kube::Api& api_;
  HandshakeOptions options_;
  std::function<void(const std::string&)> changed_;
  bool is_guarded_ = false;
  std::map<std::string, Given> given_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
