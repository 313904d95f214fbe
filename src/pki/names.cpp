#include "pki/names.h"

#include "base/check.h"
#include "base/ids.h"
#include "base/text.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_scheme = "spillway://";
// A common name has at most 64 characters (RFC 5280, ub-common-name), and " authority" is added.
constexpr size_t k_longest_federation = 64 - std::string_view(" authority").size();
constexpr size_t k_longest_dns_name = 253;

bool is_label(std::string_view text) { return check_cluster_id(text).has_value(); }

bool is_dns_name(std::string_view text) {
  if (text.size() > k_longest_dns_name) return false;
  for (size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!is_label(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return is_label(text);
}

}  // namespace

Status check_federation(std::string_view text) {
  if (text.size() <= k_longest_federation && is_dns_name(text)) return {};
  return fail(Code::invalid, "federation", in_quotes(text) + " cannot be the name of a federation",
              "use a DNS name of at most 54 lower-case letters, digits, '-' and '.'");
}

Status check_member_name(std::string_view text) {
  if (is_label(text)) return {};
  return fail(Code::invalid, "name", in_quotes(text) + " is no DNS label",
              "use 1 to 63 lower-case letters, digits and '-', with a letter or digit at both "
              "ends");
}

Status check_server_name(std::string_view text) {
  const std::string_view name = text.starts_with("*.") ? text.substr(2) : text;
  if (is_dns_name(name)) return {};
  return fail(Code::invalid, "server name", in_quotes(text) + " is no DNS name",
              "write it in lower case and without a dot at the end");
}

std::string member_uri(std::string_view federation, std::string_view name) {
  SPILLWAY_CHECK(check_federation(federation) && check_member_name(name), "unchecked name");
  return std::string(k_scheme).append(federation).append("/").append(name);
}

Result<MemberName> parse_member_uri(std::string_view uri) {
  const auto refuse = [&] {
    return fail(Code::invalid, "member URI",
                in_quotes(uri) + " is not spillway://<federation>/<name>",
                "use a certificate that this federation's authority has issued");
  };
  if (!uri.starts_with(k_scheme)) return refuse();
  const std::string_view rest = uri.substr(k_scheme.size());
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return refuse();
  const std::string_view federation = rest.substr(0, slash);
  const std::string_view name = rest.substr(slash + 1);
  if (!check_federation(federation) || !check_member_name(name)) return refuse();
  return MemberName{std::string(federation), std::string(name)};
}

}  // namespace spillway::pki
