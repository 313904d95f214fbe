#include "cli/grpc_calls.h"

#include <future>
#include <utility>

#include "cli/files.h"
#include "services/host_port.h"

namespace spillway::cli {
namespace {

constexpr Duration k_call_patience = seconds(10);  // twice what the Cluster Autoscaler has

Result<net::TlsContext> read_trust(const GrpcTarget& target) {
  if (target.plaintext) return net::TlsContext();
  if (target.authorities.empty() || target.certificate.empty() || target.key.empty()) {
    return fail(Code::invalid, "TLS", "--ca, --cert and --key are not all given",
                "give what the Cluster Autoscaler's cloud-config has, or --plaintext");
  }
  const auto authorities = read_file(target.authorities);
  if (!authorities) return tl::unexpected(authorities.error());
  const auto certificate = read_file(target.certificate);
  if (!certificate) return tl::unexpected(certificate.error());
  const auto key = read_file(target.key);
  if (!key) return tl::unexpected(key.error());
  const net::TlsIdentity identity{*certificate, *key};
  net::ClientTrust trust;
  trust.authorities_pem = *authorities;
  trust.identity = &identity;
  return net::client_context(std::move(trust));
}

}  // namespace

void add_grpc_target(Word verb, GrpcTarget& target) {
  verb.option("--target", target.target, "Where the server listens")
      .type_name("HOST:PORT")
      .required();
  verb.option("--ca", target.authorities, "Who has issued the server's certificate")
      .type_name("FILE");
  verb.option("--cert", target.certificate, "What the Cluster Autoscaler would show")
      .type_name("FILE");
  verb.option("--key", target.key, "The key of that").type_name("FILE");
  verb.flag("--plaintext", target.plaintext, "Without TLS");
}

Result<net::GrpcClientOptions> read_grpc_target(const GrpcTarget& target) {
  const auto address = services::parse_host_port(target.target, "--target");
  if (!address) return tl::unexpected(address.error());
  auto tls = read_trust(target);
  if (!tls) return tl::unexpected(std::move(tls).error());
  net::GrpcClientOptions options;
  options.host = address->host;
  options.port = address->port;
  options.tls = std::move(*tls);
  return options;
}

StraightCalls::StraightCalls(net::GrpcClientOptions options) : thread_([this] { poll_.run(); }) {
  poll_.post([this, options = std::move(options)] {
    client_ = std::make_unique<net::GrpcClient>(poll_, options);
  });
}

StraightCalls::~StraightCalls() {
  poll_.post([this] { client_.reset(); });
  poll_.stop();
  thread_.join();
}

net::GrpcAnswer StraightCalls::call(const std::string& method, std::string message) {
  // Shared: whoever waits may go on before the promise has been kept to the end.
  auto promise = std::make_shared<std::promise<net::GrpcAnswer>>();
  auto told = promise->get_future();
  poll_.post([this, method, promise, message = std::move(message)] {
    client_->call(method, message, k_call_patience,
                  [promise](net::GrpcAnswer answer) { promise->set_value(std::move(answer)); });
  });
  return told.get();
}

}  // namespace spillway::cli
