#include "services/agent/guard_port.h"

#include <utility>

#include "base/base64.h"
#include "fabric/cidr.h"
#include "fabric/liqo/guard_webhook.h"
#include "kube/small_file.h"
#include "model/tree.h"
#include "pki/authority_folder.h"
#include "pki/private_file.h"
#include "services/agent/held_secret.h"
#include "services/fabric/resource.h"
#include "services/host_port.h"

namespace spillway::agent {

namespace liqo = fabric::liqo;
using services::Level;

namespace {

constexpr const char* k_certificate_key = "authority.crt";
constexpr const char* k_key_key = "authority.key";

Result<std::optional<pki::Authority>> authority_in(const kube::Object& secret,
                                                   const std::string& thing) {
  const auto data = secret_data(secret, thing);
  if (!data) return tl::unexpected(data.error());
  const auto certificate = data->find(k_certificate_key);
  const auto key = data->find(k_key_key);
  if (certificate == data->end() || key == data->end()) return std::optional<pki::Authority>();
  auto authority = pki::Authority::from_pem(certificate->second, key->second);
  if (authority) return std::optional(std::move(*authority));
  Error error = authority.error();
  error.thing = thing;
  error.next = "remove its data: another authority is made, and told to the API server";
  return tl::unexpected(std::move(error));
}

void put_authority(kube::Object& secret, const pki::Authority& authority) {
  kube::Object& data = model::ensure(secret, {"data"});
  model::put(data, k_certificate_key, model::text_node(to_base64(authority.certificate_pem())));
  model::put(data, k_key_key, model::text_node(to_base64(authority.key_pem().view())));
}

pki::ServerNames names_of(const std::vector<std::string>& names) {
  pki::ServerNames made;
  for (const std::string& one : names) {
    const bool is_address =
        fabric::parse_address(one).has_value() || one.find(':') != std::string::npos;
    (is_address ? made.ip_addresses : made.dns_names).push_back(one);
  }
  return made;
}

}  // namespace

GuardPort::GuardPort(net::Poll& poll, host::Loop& loop, host::Random& random, services::Log& log,
                     services::Metrics& metrics, GuardPortOptions options)
    : poll_(poll),
      loop_(loop),
      random_(random),
      log_(log),
      metrics_(metrics),
      options_(std::move(options)),
      registrations_{{{liqo::k_webhooks}, {liqo::k_early_webhooks}}} {}

Status GuardPort::start(const kube::Access& access) {
  auto cluster =
      kube::Session::open(poll_, loop_, random_, access, {.patience = GuardDoor::k_patience});
  if (!cluster) return tl::unexpected(std::move(cluster).error());
  cluster_ = std::move(*cluster);
  door_.emplace(cluster_->api(), log_, metrics_);
  if (!options_.certificate.empty()) return start_by_files();
  if (!options_.secret.empty()) {
    read_secret();
    return {};
  }
  return start_by_folder();
}

// ---- files ----

Status GuardPort::start_by_files() {
  const auto again = [this](const std::string&) { return take_files(); };
  certificate_reload_.emplace(loop_, log_, "webhook certificate", options_.certificate, again);
  key_reload_.emplace(loop_, log_, "webhook key", options_.key, again);
  for (auto* one : {&*certificate_reload_, &*key_reload_}) {
    SPILLWAY_TRY(one->read().map([](const std::string&) {}));
    one->start();
  }
  return take_files();
}

Status GuardPort::take_files() {
  auto certificate = kube::read_small_file(options_.certificate);
  if (!certificate) return tl::unexpected(certificate.error());
  auto key = kube::read_small_file(options_.key);
  if (!key) return tl::unexpected(key.error());
  return serve({std::move(*certificate), std::move(*key)});
}

// ---- an authority of its own ----

Status GuardPort::start_by_folder() {
  auto kept = pki::AuthorityFolder::load(options_.folder);
  if (!kept && kept.error().code == Code::not_found) {
    kept = pki::AuthorityFolder::create(options_.folder, k_federation, loop_.now());
  }
  if (!kept) return tl::unexpected(kept.error());
  // For `spillway fabric guard --ca`.
  SPILLWAY_TRY(pki::write_private(options_.folder + "/ca.pem", kept->bundle()));
  return use(kept->signer());
}

void GuardPort::read_secret() {
  const kube::Name name{cluster_->space(), options_.secret};
  cluster_->api().get(kube::k_secrets, name, life_.guard([this, name](Result<kube::Object> found) {
    if (found) return keep_authority(std::move(*found));
    if (found.error().code != Code::not_found) return try_again(found.error());
    keep_authority(kube::new_object(kube::k_secrets, "Secret", name));
  }));
}

// Of several that begin at once the first one's is kept: the others find that theirs was refused.
void GuardPort::keep_authority(kube::Object found) {
  const std::string thing = kube::to_text(kube::k_secrets, {cluster_->space(), options_.secret});
  auto there = authority_in(found, thing);
  if (!there) return try_again(there.error());
  if (*there) {
    const Status used = use(std::move(**there));
    return used ? void() : try_again(used.error());
  }
  auto made = pki::Authority::create(k_federation, loop_.now());
  if (!made) return try_again(made.error());
  put_authority(found, *made);
  const auto then = life_.guard([this](const Result<kube::Object>& kept) {
    if (kept) return read_secret();
    try_again(kept.error());
  });
  const bool is_new = kube::version_in(found).empty();
  is_new ? cluster_->api().create(kube::k_secrets, found, then)
         : cluster_->api().replace(kube::k_secrets, found, then);
}

void GuardPort::try_again(const Error& why) {
  const std::string message = why.message();
  if (std::exchange(told_, message) != message) {
    log_.write(Level::warning, "the guard's webhook has no certificate yet", {{"why", message}});
  }
  loop_.after(backoff_.next(random_), life_.guard([this] { read_secret(); }));
}

Status GuardPort::use(pki::Authority authority) {
  authority_ = std::move(authority);
  SPILLWAY_TRY(issue());
  renew_later();
  for (Registration& one : registrations_) register_authority(one);
  return {};
}

Status GuardPort::issue() {
  const pki::Key key = pki::Key::generate();
  const Instant now = loop_.now();
  const Instant not_after{(now + k_life).ms / 1000 * 1000};
  const auto certificate =
      authority_->issue_server(key.public_key(), names_of(options_.names), now, not_after);
  if (!certificate) return tl::unexpected(certificate.error());
  return serve({*certificate + authority_->certificate_pem(), std::string(key.to_pem().view())});
}

void GuardPort::renew_later() {
  loop_.after(k_renewal, life_.guard([this] {
    if (const Status issued = issue(); !issued) {
      log_.write(Level::error, "the webhook's certificate was not made anew",
                 {{"why", issued.error().message()}});
    }
    renew_later();
  }));
}

Status GuardPort::serve(const net::TlsIdentity& identity) {
  if (server_ != nullptr) return server_->set_anonymous_tls(identity);
  const auto at = services::parse_host_port(options_.listen, "--fabric-webhook-listen");
  if (!at) return tl::unexpected(at.error());
  net::ServerOptions options;
  options.address = at->host;
  options.port = at->port;
  options.limits = GuardDoor::limits();
  auto server = net::Server::listen_anonymous(poll_, options, identity, *door_);
  if (!server) return tl::unexpected(server.error());
  server_ = std::move(*server);
  log_.write(Level::info, "the guard's webhook listens",
             {{"port", std::to_string(server_->port())}});
  return {};
}

// ---- whom the API server trusts ----

void GuardPort::register_authority(Registration& at) {
  if (at.watch) return;
  kube::WatchCalls calls;
  calls.on_put = [this, &at](const kube::Object& object) {
    kube::Object wanted = object;
    if (liqo::set_authorities(wanted, authority_->certificate_pem())) fill_in(at);
  };
  calls.on_gone = [](const kube::Name&) {};
  calls.on_trouble = [this](const Error& why) {
    log_.write(Level::warning, "the webhook's configuration cannot be seen",
               {{"why", why.message()}});
  };
  at.watch.emplace(cluster_->api(), resource_of(at.kind),
                   kube::Wanted{.fields = fmt::format("metadata.name={}", liqo::k_webhook_name)},
                   std::move(calls));
  at.watch->start();
}

void GuardPort::fill_in(Registration& at) {
  if (std::exchange(at.is_filling, true)) return;
  cluster_->api().change(
      resource_of(at.kind), {"", std::string(liqo::k_webhook_name)},
      [this](kube::Object& object) -> Status {
        liqo::set_authorities(object, authority_->certificate_pem());
        return {};
      },
      life_.guard([this, &at](const Result<kube::Object>& done) {
        at.is_filling = false;
        if (done) {
          return log_.write(Level::info, "the API server is told whom to trust",
                            {{"by", std::string(at.kind.kind)}});
        }
        // One that is gone is told of when it is back.
        if (done.error().code == Code::not_found) return;
        log_.write(Level::warning, "the API server is not told whom to trust",
                   {{"why", done.error().message()}});
        loop_.after(backoff_.next(random_), life_.guard([this, &at] { fill_in(at); }));
      }));
}

}  // namespace spillway::agent
