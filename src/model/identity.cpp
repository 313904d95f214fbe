#include "model/identity.h"

#include <algorithm>
#include <array>

#include "base/ids.h"
#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {
namespace {

constexpr size_t k_fingerprint_digits = 64;  // SHA-256

bool is_pem(char c) { return (c >= ' ' && c < 127) || c == '\n' || c == '\r'; }

}  // namespace

std::string_view to_text(Role role) {
  static constexpr std::array<std::string_view, 4> k_words{"provider", "consumer", "operator",
                                                           "viewer"};
  return k_words[static_cast<size_t>(role)];
}

Status validate(const Roles& roles) {
  if (roles.empty()) return refuse("", "there is none", "give at least one role");
  for (size_t i = 1; i < roles.size(); ++i) {
    if (roles[i - 1] < roles[i]) continue;
    return refuse("", fmt::format("{} is out of order or there twice", to_text(roles[i])),
                  "list provider before consumer, each once");
  }
  if (roles.size() == 1 || !(has(roles, Role::operator_) || has(roles, Role::viewer))) return {};
  return refuse("", "the operator and a viewer are nothing else beside it",
                "give each of them a name of its own");
}

bool has(const Roles& roles, Role role) {
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

bool is_cluster(const Roles& roles) {
  return has(roles, Role::provider) || has(roles, Role::consumer);
}

std::string to_text(const Roles& roles) {
  std::string text;
  for (const Role role : roles) {
    if (!text.empty()) text += ", ";
    text += to_text(role);
  }
  return text;
}

Status check_key_fingerprint(std::string_view path, std::string_view text) {
  if (text.size() == k_fingerprint_digits && std::all_of(text.begin(), text.end(), is_lower_hex)) {
    return {};
  }
  return refuse(path, in_quotes(text) + " is no fingerprint of a key",
                "write its 64 hexadecimal digits in lower case");
}

Status check_certificate(std::string_view path, std::string_view pem) {
  if (pem.empty()) return refuse(path, "it is empty", "give the certificate as PEM");
  if (pem.size() > k_max_certificate_bytes) {
    return refuse(path, fmt::format("{} bytes are too many", pem.size()),
                  fmt::format("give at most {}", k_max_certificate_bytes));
  }
  if (std::all_of(pem.begin(), pem.end(), is_pem)) return {};
  return refuse(path, "it has other characters than PEM has", "give the certificate as PEM");
}

Status validate(const Identity& identity) {
  SPILLWAY_TRY(at("name", check_cluster_id(identity.name)));
  SPILLWAY_TRY(under("roles", validate(identity.roles)));
  SPILLWAY_TRY(check_key_fingerprint("key", identity.key));
  SPILLWAY_TRY(check_certificate("certificate", identity.certificate));
  SPILLWAY_TRY(check_time("not_after", identity.not_after));
  SPILLWAY_TRY(check_time("since", identity.since));
  return identity.revoked ? check_time("revoked", *identity.revoked) : Status{};
}

}  // namespace spillway::model
