#include "sim/issuer.h"

#include <sstream>

#include "pki/ed25519.h"

namespace spillway::sim {
namespace {

constexpr std::string_view k_begin = "-----BEGIN CERTIFICATE-----\n";
constexpr std::string_view k_end = "\n-----END CERTIFICATE-----\n";
constexpr std::string_view k_request = "request for ";
constexpr std::string_view k_token = "swt-sim.";
constexpr Duration k_clocks_apart = minutes(5);  // as pki/ has it

}  // namespace

SimKey make_key(host::Random& random) {
  std::string seed;
  for (int i = 0; i < 4; ++i) {
    const uint64_t word = random.next();
    for (int shift = 0; shift < 64; shift += 8) seed += static_cast<char>(word >> shift);
  }
  pki::Key key = *pki::signing_key_from_seed(seed);
  std::string fingerprint = key.fingerprint();
  return {std::move(key), std::move(fingerprint)};
}

std::string request_for(const std::string& key) { return std::string(k_request) + key; }

std::string key_in(const std::string& request) {
  return request.starts_with(k_request) ? request.substr(k_request.size()) : std::string();
}

std::string token_id_in(const std::string& text) {
  return text.starts_with(k_token) ? "id-" + text.substr(k_token.size()) : std::string();
}

std::shared_ptr<const net::PeerCertificate> read_certificate(const std::string& text) {
  if (!text.starts_with(k_begin) || !text.ends_with(k_end)) return nullptr;
  const size_t length = text.size() - k_begin.size() - k_end.size();
  std::istringstream words(text.substr(k_begin.size(), length));
  net::PeerCertificate read;
  words >> read.uri >> read.key >> read.serial >> read.not_before.ms >> read.not_after.ms;
  if (!words) return nullptr;
  return std::make_shared<const net::PeerCertificate>(std::move(read));
}

const std::string& SimIssuer::federation() const {
  static const std::string k_name = "sim";
  return k_name;
}

std::string SimIssuer::authorities() const { return fmt::format("{}sim{}", k_begin, k_end); }

Result<services::Issued> SimIssuer::issue(const std::string& request, const std::string& name,
                                          Instant now) {
  const std::string key = key_in(request);
  if (key.empty()) {
    return fail(Code::invalid, "certificate request", "it is none", "make it anew");
  }
  const Instant not_after{(now + services::k_certificate_life).ms / 1000 * 1000};
  const Instant not_before = now - k_clocks_apart;
  return services::Issued{
      fmt::format("{}spillway://{}/{} {} {:x} {} {}{}", k_begin, federation(), name, key,
                  random_.next(), not_before.ms, not_after.ms, k_end),
      key, not_after};
}

Result<services::NewToken> SimIssuer::make_token() {
  const std::string text = fmt::format("{}{:016x}", k_token, random_.next());
  return services::NewToken{text, token_id_in(text)};
}

Result<std::string> SimIssuer::token_id(const std::string& text) {
  const std::string id = token_id_in(text);
  if (!id.empty()) return id;
  return fail(Code::invalid, "token", "it is none", "ask the operator for one");
}

}  // namespace spillway::sim
