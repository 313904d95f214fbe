// Certificates of tenants and their slices: each is kept beside them in a Secret, with the request
// that it was made for, and no other request gets one under that name.
#pragma once

#include <string>

#include "embedded/liqo/setting.h"

namespace spillway::embedded::liqo {

struct Certified {
  Key secret;
  std::string buyer;
  std::string request;
  pki::Subject subject;
};

Result<codec::AuthParams> certify(const Setting& setting, const Certified& wanted,
                                  const pki::PublicKey& key);

}  // namespace spillway::embedded::liqo
