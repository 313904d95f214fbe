#include "embedded/cluster.h"

#include <fmt/format.h>

#include "embedded/annotations.h"
#include "embedded/base64.h"
#include "embedded/budgets.h"
#include "embedded/debug.h"
#include "embedded/definitions.h"
#include "embedded/deployments.h"
#include "embedded/document.h"
#include "embedded/garbage.h"
#include "embedded/namespaces.h"
#include "embedded/replica_sets.h"
#include "embedded/scheduler.h"
#include "pki/authority.h"
#include "pki/hash.h"
#include "pki/key.h"

namespace spillway::embedded {
namespace {

using model::Node;

constexpr std::string_view k_first_spaces[] = {"default", "kube-system", "kube-public",
                                               "kube-node-lease"};

Node named(std::string_view name) {
  Node document = model::object_node();
  model::put(model::ensure(document, {"metadata"}), "name", model::text_node(name));
  return document;
}

net::ServerOptions with_limits(net::ServerOptions options) {
  options.limits.body_bytes = size_t{3} << 20;
  // Callers with a token show no certificate, and are no strangers here.
  options.limits.stranger_body_bytes = options.limits.body_bytes;
  options.limits.stranger_idle = options.limits.idle;
  return options;
}

}  // namespace

struct Cluster::Parts {
  Parts(host::Loop& on, host::Random& lots, const ClusterOptions& options)
      : loop(on),
        clock(on),
        table(options.history),
        objects(registry, table, clock, lots),
        access(registry, table),
        faults(lots),
        api(objects, access, faults, on, options.api),
        namespaces(objects, on),
        garbage(objects, on),
        definitions(objects, on),
        deployments(objects, on),
        replica_sets(objects, on),
        budgets(objects, on),
        scheduler(objects, on),
        kubelets(objects, on, options.kubelets),
        node_life(objects, on, options.node_life) {}

  host::Loop& loop;
  Clock clock;
  Registry registry;
  Table table;
  Objects objects;
  Access access;
  Faults faults;
  Api api;
  Namespaces namespaces;
  Garbage garbage;
  Definitions definitions;
  Deployments deployments;
  ReplicaSets replica_sets;
  Budgets budgets;
  Scheduler scheduler;
  Kubelets kubelets;
  NodeLife node_life;
  host::Lifeline lifeline;
};

struct Cluster::Serving {
  std::unique_ptr<pki::Authority> authority;  // null without TLS
  std::string authority_pem;
  net::ServerOptions options;
  std::unique_ptr<net::Server> server;
};

Cluster::Cluster(host::Loop& loop, host::Random& random, ClusterOptions options)
    : options_(std::move(options)), parts_(std::make_unique<Parts>(loop, random, options_)) {
  if (options_.trusts_strangers) {
    parts_->access.admit_strangers({"admin", {"system:masters", "system:authenticated"}});
  }
  if (options_.has_debug_paths) {
    parts_->api.on_debug([this](const Ask& ask) { return debug(*this, ask); });
  }
  found();
}

Cluster::~Cluster() {
  if (serving_ != nullptr) serving_->server.reset();
}

void Cluster::found() {
  const Kind& spaces = parts_->registry.built_in("namespaces");
  for (const std::string_view name : k_first_spaces) {
    (void)parts_->objects.create(spaces, named(name));
  }
  for (int i = 1; i <= options_.nodes; ++i) {
    NodeWish wish = options_.node;
    wish.name = fmt::format("{}-{}", wish.name.empty() ? "node" : wish.name, i);
    (void)add_node(wish);
  }
}

Status Cluster::add_node(const NodeWish& wish) {
  Node node = named(wish.name);
  Node& labels = model::ensure(node, {"metadata", "labels"});
  model::put(labels, "kubernetes.io/hostname", model::text_node(wish.name));
  model::put(labels, "kubernetes.io/os", model::text_node("linux"));
  model::put(labels, "kubernetes.io/arch", model::text_node("amd64"));
  for (const auto& [key, value] : wish.labels) model::put(labels, key, model::text_node(value));
  model::put(model::ensure(node, {"metadata", "annotations"}), k_kubelet, model::text_node("on"));
  Node& capacity = model::ensure(node, {"status", "capacity"});
  model::put(capacity, "cpu", model::text_node(wish.cpu));
  model::put(capacity, "memory", model::text_node(wish.memory));
  model::put(capacity, "pods", model::text_node(wish.pods));
  for (const auto& [key, value] : wish.more_resources) {
    model::put(capacity, key, model::text_node(value));
  }
  const auto made = parts_->objects.create(parts_->registry.built_in("nodes"), std::move(node));
  if (made) return {};
  return fail(made.error().code == 409 ? Code::conflict : Code::invalid, "node " + wish.name,
              made.error().message, "choose another name or shape");
}

void Cluster::set_kubelet(const std::string& node, bool is_on) {
  parts_->objects.change(parts_->registry.built_in("nodes"), {"", node}, [&](Node& document) {
    model::put(model::ensure(document, {"metadata", "annotations"}), k_kubelet,
               model::text_node(is_on ? "on" : "off"));
  });
}

net::Handler& Cluster::handler() { return parts_->api; }
Objects& Cluster::objects() { return parts_->objects; }
Faults& Cluster::faults() { return parts_->faults; }
void Cluster::on_cut(Api::Cut cut) { parts_->api.on_cut(std::move(cut)); }

Status Cluster::listen(net::Poll& poll, net::ServerOptions options) {
  const Instant now = parts_->loop.now();
  auto authority = pki::Authority::create(options_.name, now);
  if (!authority) return tl::unexpected(authority.error());
  serving_ = std::make_unique<Serving>();
  serving_->authority = std::make_unique<pki::Authority>(std::move(*authority));
  serving_->authority_pem = serving_->authority->certificate_pem();
  serving_->options = with_limits(std::move(options));
  const pki::Key key = pki::Key::generate();
  const auto certificate = serving_->authority->issue_server(
      key.public_key(), {{"localhost", "kubernetes"}, {"127.0.0.1"}}, now, now + hours(24 * 365));
  if (!certificate) return tl::unexpected(certificate.error());
  auto server =
      net::Server::listen(poll, serving_->options, {*certificate, std::string(key.to_pem().view())},
                          serving_->authority_pem, parts_->api);
  if (!server) return tl::unexpected(server.error());
  serving_->server = std::move(*server);
  cut_by_server();
  return {};
}

// Not from within the request: the connection is still in use there.
void Cluster::cut_by_server() {
  on_cut([this](const std::string& address, std::shared_ptr<net::Exchange> exchange) {
    parts_->loop.post(parts_->lifeline.guard([this, address, held = std::move(exchange)] {
      serving_->server->cut([&](const net::Peer& peer) { return peer.address == address; });
    }));
  });
}

Status Cluster::listen_plain(net::Poll& poll, net::ServerOptions options) {
  serving_ = std::make_unique<Serving>();
  serving_->options = with_limits(std::move(options));
  auto server = net::Server::listen_plain(poll, serving_->options, parts_->api);
  if (!server) return tl::unexpected(server.error());
  serving_->server = std::move(*server);
  cut_by_server();
  return {};
}

uint16_t Cluster::port() const { return serving_->server->port(); }

const std::string& Cluster::authority_pem() const { return serving_->authority_pem; }

Result<Credentials> Cluster::issue(std::string_view user, std::vector<std::string> groups) {
  const Instant now = parts_->loop.now();
  const pki::Key key = pki::Key::generate();
  // Users of Kubernetes have colons in their names, which ours may not: who somebody is, is told by
  // the key.
  auto certificate =
      serving_->authority->issue_member(key.public_key(), "client", now, now + hours(24 * 365));
  if (!certificate) return tl::unexpected(certificate.error());
  parts_->access.add_key(key.fingerprint(), {std::string(user), std::move(groups)});
  return Credentials{std::move(*certificate), std::string(key.to_pem().view())};
}

std::string Cluster::issue_token(std::string user, std::vector<std::string> groups) {
  const std::string token = new_suffix(parts_->objects.random, 32);
  parts_->access.add_token(token, {std::move(user), std::move(groups)});
  return token;
}

void Cluster::admit_key(const std::string& key, std::string user, std::vector<std::string> groups) {
  parts_->access.add_key(key, {std::move(user), std::move(groups)});
}

std::string Cluster::service_account_token(std::string_view space, std::string_view name) {
  User account = service_account(space, name);
  return issue_token(std::move(account.name), std::move(account.groups));
}

Result<std::string> Cluster::kubeconfig() {
  const auto admin = issue("admin", {"system:masters"});
  if (!admin) return tl::unexpected(admin.error());
  return fmt::format(
      "apiVersion: v1\n"
      "kind: Config\n"
      "clusters:\n"
      "- name: {0}\n"
      "  cluster:\n"
      "    server: https://127.0.0.1:{1}\n"
      "    certificate-authority-data: {2}\n"
      "users:\n"
      "- name: admin\n"
      "  user:\n"
      "    client-certificate-data: {3}\n"
      "    client-key-data: {4}\n"
      "contexts:\n"
      "- name: {0}\n"
      "  context:\n"
      "    cluster: {0}\n"
      "    user: admin\n"
      "current-context: {0}\n",
      options_.name, port(), to_base64(authority_pem()), to_base64(admin->certificate_pem),
      to_base64(admin->key_pem));
}

void Cluster::forget_history() { parts_->table.forget_history(); }

void Cluster::set_clock_skew(Duration skew) {
  const Duration most = seconds(k_longest_seconds);
  parts_->clock.skew = std::clamp(skew, Duration{} - most, most);
}

Status Cluster::present(Instant from, Instant until) {
  const pki::Key key = pki::Key::generate();
  const auto certificate = serving_->authority->issue_server(
      key.public_key(), {{"localhost", "kubernetes"}, {"127.0.0.1"}}, from, until);
  if (!certificate) return tl::unexpected(certificate.error());
  return serving_->server->set_tls({*certificate, std::string(key.to_pem().view())},
                                   serving_->authority_pem);
}

Status Cluster::expire_certificate() {
  const Instant now = parts_->loop.now();
  return present(now - hours(48), now - hours(24));
}

Status Cluster::renew_certificate() {
  const Instant now = parts_->loop.now();
  return present(now, now + hours(24 * 365));
}

void Cluster::restart(Duration down, int64_t lost_versions) {
  parts_->api.set_down(true);
  if (serving_ != nullptr) serving_->server->cut([](const net::Peer&) { return true; });
  parts_->loop.after(down, parts_->lifeline.guard([this, lost_versions] {
    parts_->table.fall_back(std::max<int64_t>(0, lost_versions));
    parts_->api.set_down(false);
  }));
}

}  // namespace spillway::embedded
