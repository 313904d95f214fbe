// Certificate requests whose subject counts: as Liqo has a provider's Kubernetes sign them. The
// common name becomes the user and every organization a group there, so that a request with one
// organization too many would be a request for somebody else's rights. Hence the whole subject is
// compared, not the part that is expected.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "pki/key.h"

namespace spillway::pki {

// Each 1 to 64 characters that Kubernetes allows in a name: letters, digits, "-" and ".".
struct Subject {
  std::string organization;
  std::string common_name;
  bool operator==(const Subject&) const = default;
};

Status check_subject(const Subject& subject);

// PEM, with the organization before the common name, as Liqo writes it.
Result<std::string> make_subject_request(const Key& key, const Subject& subject);

// A request as read_request takes it, for exactly this subject and this key, asking for nothing
// else, and no longer than such a one is. Denied otherwise; the reason says what is different.
Status check_subject_request(std::string_view pem, const Subject& subject, const PublicKey& key);

}  // namespace spillway::pki
