#include "fabric/liqo/names.h"

#include <fmt/format.h>

#include "base/check.h"

namespace spillway::fabric::liqo {
namespace {

constexpr std::string_view k_tenant_space_prefix = "liqo-tenant-";

}  // namespace

std::string api_version(const Kind& kind) {
  return kind.group.empty() ? std::string(kind.version)
                            : fmt::format("{}/{}", kind.group, kind.version);
}

std::string tenant_namespace_name(std::string_view peer) {
  return fmt::format("{}{}", k_tenant_space_prefix, peer);
}

std::string peer_of_tenant_namespace(std::string_view space) {
  if (!space.starts_with(k_tenant_space_prefix)) return {};
  return std::string(space.substr(k_tenant_space_prefix.size()));
}

std::string control_plane_identity_name(std::string_view provider) {
  return fmt::format("controlplane-{}", provider);
}

std::string kubeconfig_secret_name(std::string_view identity) {
  return fmt::format("kubeconfig-{}", identity);
}

std::string slice_identity_name(std::string_view slice) {
  return fmt::format("resourceslice-{}", slice);
}

std::string certificate_secret_name(std::string_view slice) {
  return fmt::format("liqo-remote-certificate-{}", slice);
}

std::string unit_user(std::string_view slice, std::string_view buyer_sha256) {
  constexpr size_t k_digits = 12;
  SPILLWAY_CHECK(buyer_sha256.size() == 64, "no SHA-256");
  return fmt::format("{}-{}", slice, buyer_sha256.substr(0, k_digits));
}

}  // namespace spillway::fabric::liqo
