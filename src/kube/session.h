// Session: an open Access. One connection pool and the verbs on it.
#pragma once

#include <memory>

#include "host/loop.h"
#include "kube/access.h"
#include "kube/api.h"
#include "kube/renewing_channel.h"

namespace spillway::kube {

// As of ApiOptions.
struct SessionOptions {
  Duration patience = ApiOptions{}.patience;
  std::function<void(const Error&)> on_retry = [](const Error&) {};
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(net::Poll& poll, host::Loop& loop,
                                               host::Random& random, const Access& access,
                                               SessionOptions options = {});
  Api& api() { return *api_; }
  // For what Api has no verb for. Tokens are not sent with it: only the connection says who we are.
  net::Channel& channel() { return *channel_; }
  const std::string& space() const { return space_; }  // where what is ours lives

 private:
  Session() = default;

  std::string space_;
  std::unique_ptr<RenewingChannel> channel_;
  std::unique_ptr<Api> api_;
};

}  // namespace spillway::kube
