#include "kube/renewing_channel.h"

#include <utility>

#include "kube/small_file.h"

namespace spillway::kube {
namespace {

// The file's content, or what was inline; nothing when it cannot be read.
std::optional<std::string> content(const std::string& file, const std::string& inlined) {
  if (file.empty()) return inlined;
  auto text = read_small_file(file);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

bool is_refusal(const Result<net::Response>& answer) {
  return answer ? answer->status == 401 : answer.error().code == Code::denied;
}

}  // namespace

RenewingChannel::RenewingChannel(host::Loop& loop, std::unique_ptr<net::Client> client,
                                 AccessFiles files, std::string authorities_pem,
                                 std::optional<net::TlsIdentity> identity)
    : loop_(loop),
      client_(std::move(client)),
      files_(std::move(files)),
      authorities_pem_(std::move(authorities_pem)),
      identity_(std::move(identity)),
      looked_at_(loop.now()) {}

void RenewingChannel::send(net::Request request, net::OnResponse then) {
  if (!has_files()) return client_->send(std::move(request), std::move(then));
  look();
  client_->send(std::move(request),
                life_.guard([this, then = std::move(then)](Result<net::Response> answer) {
                  if (is_refusal(answer)) looked_at_.reset();
                  then(std::move(answer));
                }));
}

std::unique_ptr<net::Reading> RenewingChannel::open(net::Request request, net::StreamCalls calls) {
  if (has_files()) look();
  return client_->open(std::move(request), std::move(calls));
}

void RenewingChannel::look() {
  const Instant now = loop_.now();
  if (looked_at_ && *looked_at_ <= now && now - *looked_at_ < k_keep) return;
  looked_at_ = now;
  renew_authorities();
  renew_identity();
}

void RenewingChannel::renew_authorities() {
  auto text = content(files_.authorities, authorities_pem_);
  if (!text || *text == authorities_pem_ || !client_->set_authorities(*text)) return;
  authorities_pem_ = std::move(*text);
}

void RenewingChannel::renew_identity() {
  if (!identity_) return;
  auto certificate = content(files_.certificate, identity_->certificate_chain_pem);
  auto key = content(files_.key, identity_->key_pem);
  if (!certificate || !key) return;
  net::TlsIdentity made{std::move(*certificate), std::move(*key)};
  const bool is_same = made.key_pem == identity_->key_pem &&
                       made.certificate_chain_pem == identity_->certificate_chain_pem;
  if (is_same || !client_->set_identity(made)) return;
  identity_ = std::move(made);
}

}  // namespace spillway::kube
