#include "services/fabric/holder.h"

#include <array>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "fabric/liqo/names.h"
#include "pki/hash.h"

namespace spillway::agent {

using services::Level;

namespace {
constexpr const char* k_take_over =
    "its units would end: start it again; or, if it will not come back, delete the Lease";
}  // namespace

FabricHolder::FabricHolder(kube::Api& api, services::Log& log, std::string name, std::string party,
                           Calls calls)
    : log_(log),
      calls_(std::move(calls)),
      lease_(api,
             {.name = {std::string(fabric::liqo::k_namespace), k_fabric_lease},
              .holder = std::move(name),
              .party = std::move(party)},
             lease_calls()) {}

kube::LeaseCalls FabricHolder::lease_calls() {
  kube::LeaseCalls calls;
  calls.on_held = [this] {
    told_.clear();
    other_.clear();
    log_.write(Level::info, "the fabric of this cluster is ours", {{"lease", k_fabric_lease}});
    calls_.begin();
  };
  calls.on_lost = [this] {
    log_.write(Level::warning, "the fabric waits until its lease is renewed",
               {{"lease", k_fabric_lease}});
    calls_.pause();
  };
  calls.on_other = [this](const std::string& holder, const std::string& party) {
    const bool is_left = holder.empty();
    other_ = is_left ? fmt::format("{} has left units here, and is gone", party)
                     : fmt::format("{} has it", holder);
    log_.write(Level::warning, "the fabric of this cluster is another's",
               {{"holder", is_left ? party : holder},
                {"lease", k_fabric_lease},
                {"next", is_left ? k_take_over
                                 : "contracts wait; stop the other, or leave it to "
                                   "that one"}});
    calls_.stop();
  };
  calls.on_trouble = [this](const Error& trouble) { tell(trouble); };
  return calls;
}

std::string FabricHolder::why_not() const {
  if (!other_.empty()) return other_;
  return told_.empty() ? "its Lease is not held yet" : told_;
}

void FabricHolder::tell(const Error& trouble) {
  const std::string message = trouble.message();
  if (std::exchange(told_, message) == message) return;
  log_.write(Level::warning, "lease in trouble", {{"why", message}});
}

std::string folder_holder(const std::string& who, const std::string& folder) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::error_code none;
  const std::string path = std::filesystem::weakly_canonical(folder, none).string();
  return fmt::format("{} on {}, {}", who, host.data(), pki::sha256_hex(path).substr(0, 8));
}

}  // namespace spillway::agent
