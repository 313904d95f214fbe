#include "sim/roads.h"

#include "pki/certificate.h"

namespace spillway::sim {
namespace {

std::string host_of(const std::string& cluster) { return cluster + ".example.com"; }

// As a server sees who has this certificate.
std::shared_ptr<const net::PeerCertificate> shown(const std::string& pem) {
  const auto facts = pki::read_certificate(pem);
  if (!facts) return nullptr;
  net::PeerCertificate made;
  made.uri = facts->uri;
  made.key = facts->key_fingerprint;
  made.serial = facts->serial;
  made.not_before = facts->not_before;
  made.not_after = facts->not_after;
  return std::make_shared<const net::PeerCertificate>(std::move(made));
}

}  // namespace

std::string Roads::url_of(const std::string& cluster) {
  return fmt::format("https://{}:6443", host_of(cluster));
}

void Roads::add(const std::string& cluster, SimCluster& at) { hosts_[host_of(cluster)] = &at; }

Result<std::unique_ptr<net::Channel>> Roads::dial(Process& from, Address at,
                                                  const kube::Access& access) {
  const auto door = hosts_.find(access.server.host);
  const auto certificate =
      access.identity ? shown(access.identity->certificate_chain_pem) : nullptr;
  if (door == hosts_.end() || certificate == nullptr) {
    return fail(Code::unavailable, access.server.host, "nobody is there", "look at the URL");
  }
  auto channel = std::make_unique<SimChannel>(from, at, network_, std::vector<Door*>{door->second});
  channel->set_patience(k_watch_patience);
  channel->show(certificate);
  return std::unique_ptr<net::Channel>(std::move(channel));
}

}  // namespace spillway::sim
