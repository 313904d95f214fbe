// Kubeconfigs, read as leniently as kubectl reads them where it does no harm (fields that we do not
// know are passed over) and refused where taking them as they are would.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/base64.h"
#include "base/text.h"
#include "kube/access.h"
#include "kube/small_file.h"
#include "model/tree.h"
#include "model/yaml.h"
#include "pki/file_handle.h"

namespace spillway::kube {
namespace {

using model::Node;
using model::text_at;

enum class Trust { own, wire };

// One file being read: where it is, and what it may ask of us.
struct Source {
  std::string what;    // "kubeconfig /etc/spillway/kubeconfig"
  std::string folder;  // what its relative paths begin from
  Trust trust = Trust::wire;
};

tl::unexpected<Error> wrong(const Source& source, std::string reason, std::string next = {}) {
  return fail(Code::invalid, source.what, std::move(reason), std::move(next));
}

// The entry called `name` in a list of {name, <noun>: {...}}.
const Node* entry(const Node& root, std::string_view list, std::string_view noun,
                  std::string_view name) {
  for (const Node& item : model::items_at(root, {list})) {
    if (text_at(item, {"name"}) == name) return model::look(item, {noun});
  }
  return nullptr;
}

// What to do about a name that `list` does not have.
std::string other_than(const Node& root, std::string_view list) {
  constexpr size_t k_most_named = 5;
  std::string names;
  const auto& items = model::items_at(root, {list});
  for (size_t i = 0; i < std::min(items.size(), k_most_named); ++i) {
    names += fmt::format("{} {}", i == 0 ? "" : ",", in_quotes(text_at(items[i], {"name"})));
  }
  if (names.empty()) return fmt::format("add it to {}", list);
  return fmt::format("use one that it has:{}{}", names, items.size() > k_most_named ? ", ..." : "");
}

std::string path_from(const Source& source, std::string_view path) {
  return path.starts_with('/') ? std::string(path) : fmt::format("{}/{}", source.folder, path);
}

// `<field>-data` inline, or the file that `<field>` names, which is kept in `file`; empty when
// there is neither.
Result<std::string> content_of(const Source& source, const Node& node, const std::string& field,
                               std::string& file) {
  const std::string data_field = field + "-data";
  const std::string_view data = text_at(node, {data_field});
  if (!data.empty()) {
    auto bytes = from_base64(data);
    if (!bytes) return wrong(source, data_field + " is no base64");
    return std::move(*bytes);
  }
  const std::string_view path = text_at(node, {field});
  if (path.empty()) return std::string();
  if (source.trust == Trust::wire) {
    return wrong(source, fmt::format("{} names a file of this machine", field),
                 fmt::format("send its content as {}", data_field));
  }
  file = path_from(source, path);
  return read_small_file(file);
}

Status refuse_fields(const Source& source, const Node& node,
                     std::initializer_list<std::pair<std::string_view, std::string_view>> refused) {
  for (const auto& [field, reason] : refused) {
    const Node* found = model::look(node, {field});
    const bool is_off = found == nullptr ||
                        (found->kind == Node::Kind::boolean && !found->boolean) ||
                        (found->kind == Node::Kind::string && found->text.empty());
    if (!is_off) return wrong(source, fmt::format("{}: {}", field, reason));
  }
  return {};
}

Status read_server(const Source& source, std::string_view text, Access& access) {
  const size_t host = text.find("://");
  const size_t slash = host == std::string_view::npos ? host : text.find('/', host + 3);
  auto url = net::parse_url(text.substr(0, slash));
  if (!url) return tl::unexpected(std::move(url).error());
  if (url->is_plain) return wrong(source, "its server is not https", "name one that is");
  access.server = std::move(*url);
  if (slash == std::string_view::npos) return {};
  access.prefix = text.substr(slash);
  while (access.prefix.ends_with('/')) access.prefix.pop_back();
  net::Target target;
  if (!access.prefix.empty() && !net::parse_target(access.prefix, target)) {
    return wrong(source, "the path of its server is malformed");
  }
  return {};
}

Status read_cluster(const Source& source, const Node& cluster, Access& access) {
  SPILLWAY_TRY(
      refuse_fields(source, cluster,
                    {{"insecure-skip-tls-verify", "a server that anyone can be is not spoken to"},
                     {"proxy-url", "proxies are not supported"}}));
  SPILLWAY_TRY(read_server(source, text_at(cluster, {"server"}), access));
  access.server_name = text_at(cluster, {"tls-server-name"});
  auto authorities = content_of(source, cluster, "certificate-authority", access.files.authorities);
  if (!authorities) return tl::unexpected(std::move(authorities).error());
  access.authorities_pem = std::move(*authorities);
  return {};
}

Status read_plugin(const Source& source, const Node& exec, Access& access) {
  if (source.trust == Trust::wire) {
    return wrong(source, "exec would run a program of this machine",
                 "send a token or a client certificate");
  }
  ExecPlugin plugin;
  plugin.command = text_at(exec, {"command"});
  if (plugin.command.empty()) return wrong(source, "exec has no command");
  // As kubectl does: a path is relative to the file, a bare name is searched for.
  if (plugin.command.find('/') != std::string::npos && !plugin.command.starts_with('/')) {
    plugin.command = fmt::format("{}/{}", source.folder, plugin.command);
  }
  for (const Node& word : model::items_at(exec, {"args"})) plugin.arguments.push_back(word.text);
  for (const Node& pair : model::items_at(exec, {"env"})) {
    plugin.environment.emplace_back(text_at(pair, {"name"}), text_at(pair, {"value"}));
  }
  if (!text_at(exec, {"apiVersion"}).empty()) plugin.version = text_at(exec, {"apiVersion"});
  plugin.hint = text_at(exec, {"installHint"});
  access.plugin = std::move(plugin);
  return {};
}

Status read_identity(const Source& source, const Node& user, Access& access) {
  auto certificate = content_of(source, user, "client-certificate", access.files.certificate);
  if (!certificate) return tl::unexpected(std::move(certificate).error());
  auto key = content_of(source, user, "client-key", access.files.key);
  if (!key) return tl::unexpected(std::move(key).error());
  if (certificate->empty() != key->empty()) {
    return wrong(source, "a client certificate needs its key, and the key its certificate");
  }
  if (!key->empty()) access.identity = net::TlsIdentity{std::move(*certificate), std::move(*key)};
  return {};
}

Status read_user(const Source& source, const Node& user, Access& access) {
  SPILLWAY_TRY(refuse_fields(
      source, user,
      {{"auth-provider", "such plugins are gone from Kubernetes; use exec"},
       {"username", "passwords are not supported; use a token or a client certificate"},
       {"as", "acting as somebody else is not supported"}}));
  SPILLWAY_TRY(read_identity(source, user, access));
  access.token = text_at(user, {"token"});
  if (!is_printable(access.token) || access.token.find(' ') != std::string::npos) {
    return wrong(source, "its token has characters that no token has");
  }
  const std::string_view token_file = text_at(user, {"tokenFile"});
  if (!token_file.empty() && access.token.empty()) {
    if (source.trust == Trust::wire) {
      return wrong(source, "tokenFile names a file of this machine", "send the token itself");
    }
    access.token_file = path_from(source, token_file);
  }
  if (const Node* exec = model::look(user, {"exec"})) return read_plugin(source, *exec, access);
  return {};
}

Result<Access> read_kubeconfig(const Source& source, std::string_view text,
                               std::string_view context_name) {
  const auto root = model::parse_yaml(text, source.what);
  if (!root) return tl::unexpected(root.error());
  if (context_name.empty()) context_name = text_at(*root, {"current-context"});
  if (context_name.empty()) {
    return wrong(source, "it has no current-context", "say which context is meant");
  }
  const Node* context = entry(*root, "contexts", "context", context_name);
  if (context == nullptr) {
    return wrong(source, fmt::format("there is no context {}", in_quotes(context_name)),
                 other_than(*root, "contexts"));
  }
  const Node* cluster = entry(*root, "clusters", "cluster", text_at(*context, {"cluster"}));
  if (cluster == nullptr) {
    return wrong(source,
                 fmt::format("there is no cluster {}, which context {} names",
                             in_quotes(text_at(*context, {"cluster"})), in_quotes(context_name)),
                 other_than(*root, "clusters"));
  }
  Access access;
  SPILLWAY_TRY(read_cluster(source, *cluster, access));
  if (const Node* user = entry(*root, "users", "user", text_at(*context, {"user"}))) {
    SPILLWAY_TRY(read_user(source, *user, access));
  } else if (!text_at(*context, {"user"}).empty()) {
    return wrong(source,
                 fmt::format("there is no user {}, which context {} names",
                             in_quotes(text_at(*context, {"user"})), in_quotes(context_name)),
                 other_than(*root, "users"));
  }
  const std::string_view space = text_at(*context, {"namespace"});
  if (!space.empty()) access.space = space;
  return access;
}

}  // namespace

Result<Access> read_wire_kubeconfig(std::string_view text, std::string_view context) {
  auto access = read_kubeconfig({"kubeconfig", {}, Trust::wire}, text, context);
  if (access && access->authorities_pem.empty()) {
    return fail(Code::invalid, "kubeconfig", "it has no certificate-authority-data",
                "send the authority of its server");
  }
  return access;
}

Result<Lead> read_lead(std::string_view kubeconfig) {
  const Source source{"kubeconfig", {}, Trust::wire};
  const auto root = model::parse_yaml(kubeconfig, source.what);
  if (!root) return tl::unexpected(root.error());
  const Node* context = entry(*root, "contexts", "context", text_at(*root, {"current-context"}));
  const Node* cluster = context == nullptr
                            ? nullptr
                            : entry(*root, "clusters", "cluster", text_at(*context, {"cluster"}));
  if (cluster == nullptr) return wrong(source, "its current context leads to no cluster");
  Lead lead;
  lead.server = text_at(*cluster, {"server"});
  lead.proxy = text_at(*cluster, {"proxy-url"});
  const auto authorities = from_base64(text_at(*cluster, {"certificate-authority-data"}));
  if (authorities) lead.authorities_pem = *authorities;
  return lead;
}

Result<Access> read_own_kubeconfig(const std::string& path, std::string_view context) {
  const auto text = read_small_file(path);
  if (!text) return tl::unexpected(text.error());
  return read_kubeconfig({"kubeconfig " + path, pki::folder_of(path), Trust::own}, *text, context);
}

Result<Access> read_access(const std::string& kubeconfig, std::string_view context) {
  if (!kubeconfig.empty()) return read_own_kubeconfig(kubeconfig, context);
  std::map<std::string, std::string> environment;
  for (const char* name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
    if (const char* value = std::getenv(name)) environment[name] = value;
  }
  return read_pod_access(environment);
}

Result<Access> read_pod_access(const std::map<std::string, std::string>& environment,
                               const std::string& folder) {
  const auto host = environment.find("KUBERNETES_SERVICE_HOST");
  const auto port = environment.find("KUBERNETES_SERVICE_PORT");
  if (host == environment.end() || port == environment.end()) {
    return fail(Code::not_found, "the cluster that this runs in",
                "KUBERNETES_SERVICE_HOST and _PORT are not set", "name a kubeconfig");
  }
  const bool is_v6 = host->second.find(':') != std::string::npos;
  const std::string address = is_v6 ? "[" + host->second + "]" : host->second;
  auto url = net::parse_url(fmt::format("https://{}:{}", address, port->second));
  if (!url) return tl::unexpected(std::move(url).error());
  Access access;
  access.files.authorities = folder + "/ca.crt";
  auto authorities = read_small_file(access.files.authorities);
  if (!authorities) return tl::unexpected(std::move(authorities).error());
  access.server = std::move(*url);
  access.authorities_pem = std::move(*authorities);
  access.token_file = folder + "/token";
  if (auto space = read_small_file(folder + "/namespace")) access.space = std::move(*space);
  return access;
}

}  // namespace spillway::kube
