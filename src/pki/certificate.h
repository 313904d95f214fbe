// What a certificate says, read once into plain values. Reading does not judge: whether somebody
// trusted has signed it and whether it is in date is for those who know whom they trust and what
// time it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace spillway::pki {

struct Certificate {
  std::string uri;                        // the first SAN URI, or empty
  std::vector<std::string> dns_names;     // of the SAN
  std::vector<std::string> ip_addresses;  // of the SAN, as text
  std::string key_fingerprint;            // SHA-256 of the SubjectPublicKeyInfo, hexadecimal
  std::string fingerprint;                // SHA-256 of the DER, hexadecimal
  std::string serial;                     // lower-case hexadecimal
  Instant not_before;
  Instant not_after;
  std::string common_name;  // the subject's, or empty
  bool is_authority = false;
};

inline constexpr size_t k_max_certificate = size_t{64} << 10;
inline constexpr size_t k_max_bundle = size_t{1} << 20;

// One PEM block with nothing around it.
Result<Certificate> read_certificate(std::string_view pem);

// Of the DER, as tokens carry it for the authority.
Result<std::string> fingerprint_of(std::string_view pem);

// The certificates of a bundle in their order, each as PEM; at least one, and nothing else.
Result<std::vector<std::string>> split_bundle(std::string_view pem);

// That one of the bundle's authorities has signed it, whatever the time is.
Status check_issued_by(std::string_view certificate_pem, std::string_view bundle_pem);

}  // namespace spillway::pki
