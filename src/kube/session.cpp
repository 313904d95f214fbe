#include "kube/session.h"

#include "kube/small_file.h"
#include "net/tls.h"

namespace spillway::kube {
namespace {

// A watch has a bookmark about once a minute. A server that says nothing for longer may have
// stopped without its kernel noticing: then the watch is taken up again, which costs two requests.
constexpr Duration k_longest_silence = seconds(100);
constexpr const char* k_system_authorities = "/etc/ssl/certs/ca-certificates.crt";

std::shared_ptr<TokenSource> tokens_of(net::Poll& poll, host::Loop& loop, const Access& access) {
  if (access.plugin) return std::make_shared<ExecToken>(poll, *access.plugin);
  if (!access.token_file.empty()) return std::make_shared<FileToken>(loop, access.token_file);
  if (!access.token.empty()) return std::make_shared<FixedToken>(access.token);
  return nullptr;
}

// Where a person finds what is wrong: by the words of a kubeconfig.
Status check_authority(const Access& access) {
  if (access.authorities_pem.empty()) return {};
  auto checked = net::client_context({access.authorities_pem, {}, nullptr, {}});
  if (checked) return {};
  const std::string& file = access.files.authorities;
  return fail(Code::invalid,
              file.empty() ? "the kubeconfig's certificate-authority-data"
                           : "certificate-authority " + file,
              std::move(checked.error().reason),
              "give the certificate of the API server's authority, in PEM");
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(net::Poll& poll, host::Loop& loop,
                                               host::Random& random, const Access& access,
                                               SessionOptions wanted) {
  SPILLWAY_TRY(check_authority(access));
  net::ClientOptions options;
  options.host = access.server.host;
  options.port = access.server.port;
  options.server_name = access.server_name;
  options.authorities_pem = access.authorities_pem;
  options.identity = access.identity;
  options.silence = k_longest_silence;
  AccessFiles files = access.files;
  if (options.authorities_pem.empty()) {
    files.authorities = k_system_authorities;
    auto system = read_small_file(files.authorities);
    if (!system) return tl::unexpected(std::move(system).error());
    options.authorities_pem = std::move(*system);
  }
  const net::ClientOptions begun = options;
  auto client = net::Client::create(poll, std::move(options));
  if (!client) return tl::unexpected(std::move(client).error());
  std::unique_ptr<Session> session(new Session());
  session->space_ = access.space;
  session->channel_ = std::make_unique<RenewingChannel>(loop, std::move(*client), std::move(files),
                                                        begun.authorities_pem, begun.identity);
  session->api_ = std::make_unique<Api>(loop, random, *session->channel_,
                                        ApiOptions{.prefix = access.prefix,
                                                   .tokens = tokens_of(poll, loop, access),
                                                   .patience = wanted.patience,
                                                   .on_retry = std::move(wanted.on_retry)});
  return session;
}

}  // namespace spillway::kube
