#include "services/fabric/holder.h"

#include <array>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "fabric/liqo/names.h"
#include "pki/hash.h"

namespace spillway::agent {

using services::Level;

FabricHolder::FabricHolder(kube::Api& api, services::Log& log, std::string name, Calls calls)
    : log_(log),
      calls_(std::move(calls)),
      lease_(api,
             {.name = {std::string(fabric::liqo::k_namespace), k_fabric_lease},
              .holder = std::move(name)},
             lease_calls()) {}

kube::LeaseCalls FabricHolder::lease_calls() {
  kube::LeaseCalls calls;
  calls.on_held = [this] {
    told_.clear();
    log_.write(Level::info, "the fabric of this cluster is ours", {{"lease", k_fabric_lease}});
    calls_.begin();
  };
  calls.on_lost = [this] {
    log_.write(Level::warning, "the fabric waits until its lease is renewed",
               {{"lease", k_fabric_lease}});
    calls_.pause();
  };
  calls.on_other = [this](const std::string& holder) {
    log_.write(Level::warning, "the fabric of this cluster is another's",
               {{"holder", holder},
                {"lease", k_fabric_lease},
                {"next", "contracts wait; stop the other, or leave it to that one"}});
    calls_.stop();
  };
  calls.on_trouble = [this](const Error& trouble) { tell(trouble); };
  return calls;
}

void FabricHolder::tell(const Error& trouble) {
  const std::string message = trouble.message();
  if (std::exchange(told_, message) == message) return;
  log_.write(Level::warning, "lease in trouble", {{"why", message}});
}

std::string folder_holder(const std::string& program, const std::string& member,
                          const std::string& folder) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::error_code none;
  const std::string path = std::filesystem::weakly_canonical(folder, none).string();
  return fmt::format("{} {} on {}, {}", program, member, host.data(),
                     pki::sha256_hex(path).substr(0, 8));
}

}  // namespace spillway::agent
