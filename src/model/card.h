// Card: what a cluster shows to those who deal with it: the keys by which they know it, and its id
// in Liqo. Signed by the key that it names (pki/jws.h, type k_card_type), so that nobody can make
// one for another key; that the key is the cluster's is for pins to say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace spillway::model {

inline constexpr std::string_view k_card_type = "spillway-card";

struct Card {
  std::string federation;
  ClusterId cluster;
  int64_t number = 1;   // another content has a higher one
  std::string key;      // Ed25519: the member "x" of its JWK, 43 characters of base64url
  std::string sealing;  // X25519, likewise
  std::string liqo;     // its cluster id there; empty: it has none

  bool operator==(const Card&) const = default;
};

Status validate(const Card& card);
// 32 bytes in base64url without padding: the form alone.
Status check_key_text(std::string_view path, std::string_view text);
// As Liqo has them: a DNS label.
Status check_liqo_id(std::string_view path, std::string_view id);

std::string to_payload(const Card& card);  // canonical JSON
Result<Card> card_from_payload(std::string_view payload);

}  // namespace spillway::model
