// The parts of a JWS as they were sent, each found and decoded or refused with its own reason.
// Only for pki/jws.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace spillway::pki {

struct JwsHeader {
  std::string key_id;
  std::string type;
};

struct JwsParts {
  struct Signature {
    JwsHeader header;
    std::string bytes;
  };
  std::string payload;
  std::vector<Signature> signatures;
};

inline constexpr const char* k_jws_algorithm = "EdDSA";

Result<JwsParts> read_jws(std::string_view text);
bool is_jws_type(std::string_view text);

}  // namespace spillway::pki
