// Agreement: what buyer and provider sign, both over the same bytes (pki/jws.h, type
// k_agreement_type): a contract as it was agreed, without what happens to it later. Its id is the
// hash of its payload, the contract id of all that is signed afterwards; the hold's id stays the
// key under which everything else knows the contract.
//
// One text for each agreement: canonical JSON, and every term spelled out, so that no later
// release's default can change what was signed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/contract.h"

namespace spillway::model {

inline constexpr std::string_view k_agreement_type = "spillway-contract";

// How one side came to believe that a key is the other's.
enum class Trust {
  given,      // its operator was told the fingerprint by another way than through the broker
  first_use,  // the broker showed it, and nothing spoke against it
};

struct Signatory {
  ClusterId cluster;
  std::string key;      // as in its card
  std::string sealing;  // as in its card
  int64_t card = 1;     // its number
  bool operator==(const Signatory&) const = default;
};

// What an end before the minimum term costs.
enum class EarlyEnd { minimum_term, time_used };

struct AgreedTerms : Terms {
  EarlyEnd by_buyer = EarlyEnd::minimum_term;
  EarlyEnd by_provider = EarlyEnd::time_used;
  bool operator==(const AgreedTerms&) const = default;
};

// What binds the peering to the contract: nobody in between can put a key or a request of their own
// in the place of these. Hashes are SHA-256, 64 hexadecimal digits.
struct LiqoPart {
  std::string buyer;      // cluster ids
  std::string provider;   //
  std::string buyer_key;  // Liqo's public key of the buyer, base64
  std::string control_plane_request;
  std::vector<std::string> unit_requests;  // one for each unit, in their order
  bool operator==(const LiqoPart&) const = default;
};

// A part for the back end that makes the units real. kwok and embedded need none.
struct Fabric {
  std::optional<LiqoPart> liqo;
  bool operator==(const Fabric&) const = default;
};

struct Agreement {
  std::string federation;
  ContractId hold;
  Signatory buyer;
  Signatory provider;
  Trust trust = Trust::first_use;  // of the buyer in the provider's key
  PoolId pool;
  OfferId offer;
  Resources shape;  // of one unit
  Price price;
  int64_t rate = 0;  // micro-units per unit-hour
  AgreedTerms terms;
  std::vector<std::string> units;  // their names
  // Of spares: what both sign is that the buyer may buy each at this price, by a signed event of
  // its own, when there is room.
  bool spare = false;
  // The provider signs before this, or not at all: a signature that somebody kept back is worth
  // nothing later.
  Instant sign_by;
  Fabric fabric;

  bool operator==(const Agreement&) const = default;
};

// What the book says was agreed, for its two parties to sign.
Agreement agreement_on(const Contract& contract, std::string federation);

// Empty when the agreement is on this contract, else the name of what differs. What the book does
// not know (keys, trust, fabric, sign_by) is for others to judge.
std::string_view difference(const Agreement& agreement, const Contract& contract);

Status validate(const Agreement& agreement);
std::string to_payload(const Agreement& agreement);
Result<Agreement> agreement_from_payload(std::string_view payload);

}  // namespace spillway::model
