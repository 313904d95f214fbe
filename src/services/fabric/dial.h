// How a provider's API server is asked whether it is there (services/fabric/pulses.h): somebody
// else's, so it is waited for, and read, no more than a Lease takes.
#pragma once

#include <memory>

#include "kube/access.h"
#include "net/channel.h"
#include "net/poll.h"

namespace spillway::agent {

Result<std::unique_ptr<net::Channel>> dial_provider(net::Poll& poll, const kube::Access& access);

}  // namespace spillway::agent
