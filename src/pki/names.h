// Names in certificates: of federations, of their members, of servers.
//
// A federation is called by a DNS name short enough for the subject of a certificate, a member by
// one DNS label. Both are lower-case, so that a URI can be compared as text.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace spillway::pki {

Status check_federation(std::string_view text);   // "lab", "eu.example"; at most 54 characters
Status check_member_name(std::string_view text);  // a DNS label
Status check_server_name(std::string_view text);  // a DNS name, also "*.example"

struct MemberName {
  std::string federation;
  std::string name;
  bool operator==(const MemberName&) const = default;
};

// spillway://<federation>/<name>. Strict inverses: what parses is what member_uri writes.
// Both names must have passed their checks.
std::string member_uri(std::string_view federation, std::string_view name);
Result<MemberName> parse_member_uri(std::string_view uri);

}  // namespace spillway::pki
