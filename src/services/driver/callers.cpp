#include "services/driver/callers.h"

#include <algorithm>

namespace spillway::driver {
namespace {

bool lists(const std::vector<std::string>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(), [&name](const std::string& one) {
    return one == k_any_cluster || one == name;
  });
}

}  // namespace

bool Rights::may_order(const std::string& consumer, const std::string& provider) const {
  return lists(consumers, consumer) && lists(providers, provider);
}

const Rights* Callers::find(const net::PeerCertificate& certificate) const {
  const auto found = by_uri_.find(certificate.uri);
  if (found == by_uri_.end() || certificate.uri.empty()) return everyone_ ? &*everyone_ : nullptr;
  const auto& [rights, authorities] = found->second;
  // Any authority can write any name into a certificate.
  const bool is_it = !authorities || authorities->contains(certificate.authority);
  return is_it ? &rights : nullptr;
}

}  // namespace spillway::driver
