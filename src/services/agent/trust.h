// Trust: whose key is whose, as this member believes it. A pin is the fingerprint of a cluster's
// key (pki/key.h), given by the operator, or taken when the cluster was first met, if the policy
// allows that. What the broker says of keys counts once, then: its authority is no pin.
//
//   a card of the pinned key        is believed, unless its number is lower than one seen before
//   a card of another key           is refused until the operator replaces the pin
//   a card of a cluster without pin is pinned on first use, or refused, by the policy
//
// Pure: who keeps the book writes it down before anything follows from it (papers.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "model/agreement.h"

namespace spillway::agent {

struct Pin {
  std::string key;  // fingerprint, 64 hexadecimal digits
  model::Trust how = model::Trust::first_use;
  Instant since;
  int64_t card = 0;  // the highest number seen on a card of this key; 0: none yet
  bool operator==(const Pin&) const = default;
};

struct TrustBook {
  bool first_use = true;
  std::map<ClusterId, Pin> pins;
  // Our own card, as it was signed last: its number is not used for another content, whatever the
  // broker has forgotten.
  std::string card;
  bool operator==(const TrustBook&) const = default;
};

// What is known of a card once its signature was verified.
struct ShownCard {
  ClusterId cluster;
  std::string key;  // fingerprint
  int64_t number = 1;
};

// Whether it is believed, and how its key came to be pinned. Pins it, or notes the number.
Result<model::Trust> believe(TrustBook& book, const ShownCard& card, Instant now);

// By the operator. The same key again is given from then on, though it was met before.
Status add_pin(TrustBook& book, const ClusterId& cluster, const std::string& key, Instant now);
Status replace_pin(TrustBook& book, const ClusterId& cluster, const std::string& key, Instant now);
Status remove_pin(TrustBook& book, const ClusterId& cluster);

// As people write it: also in capitals, also with colons.
Result<std::string> read_fingerprint(std::string_view text);
std::string_view to_text(model::Trust trust);

Status validate(const TrustBook& book);
std::string to_json(const TrustBook& book);
Result<TrustBook> trust_from_json(std::string_view text, std::string_view source = "trust");

}  // namespace spillway::agent
