// Certificate requests (PKCS#10): how a member shows the authority a key, and that it has it.
//
// Of a request only the public key is used. Name, federation and validity come from the book:
// whatever else a request asks for is not even read.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "pki/key.h"

namespace spillway::pki {

struct Request {
  PublicKey key;
  std::string fingerprint;  // the key's
};

inline constexpr size_t k_max_request = size_t{16} << 10;

// PEM. The common name is a courtesy to people who look into it: 1 to 64 printable bytes.
Result<std::string> make_request(const Key& key, std::string_view common_name);

// One PEM block of at most k_max_request, with a key of P-256 or Ed25519, signed by that key.
Result<Request> read_request(std::string_view pem);

}  // namespace spillway::pki
