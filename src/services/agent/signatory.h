// Signatory: a member as one who signs. It has the identity's key and makes of it cards, signatures
// under agreements, and numbered events. It keeps nothing and asks nobody; which number an event
// gets, and whether what it signs should be signed, is for services/agent/signing.h to know.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/agreement.h"
#include "model/card.h"
#include "model/contract_event.h"
#include "pki/envelope.h"
#include "pki/key.h"
#include "services/agent/credentials.h"

namespace spillway::agent {

// What one side does under an agreement, before it has a number.
struct Deed {
  model::ContractEventKind kind = model::ContractEventKind::renewal;
  std::optional<Instant> until = {};         // extension, renewal
  std::vector<int32_t> units = {};           // release (empty: all), purchase
  std::optional<model::Trust> trust = {};    // accepted
  std::vector<model::MeteredUse> used = {};  // usage
};

// The agreement that a deed is under.
struct Under {
  std::string agreement;  // its id
  ContractId hold;
};

// Whichever side of an agreement this cluster is; the provider's if it is neither.
inline const model::Signatory& own_side(const model::Agreement& agreement, const ClusterId& self) {
  return agreement.buyer.cluster == self ? agreement.buyer : agreement.provider;
}

class Signatory {
 public:
  static Result<Signatory> of(const Credentials& credentials);
  static Result<Signatory> of(pki::Key key, std::string federation, ClusterId cluster);

  const ClusterId& cluster() const { return cluster_; }
  const std::string& federation() const { return federation_; }
  const std::string& key_text() const { return key_text_; }
  std::string fingerprint() const { return key_.fingerprint(); }
  const pki::Key& key() const { return key_; }
  const pki::SealingKey& sealing() const { return *sealing_; }

  model::Card card(int64_t number, std::string liqo) const;
  // Whether that card shows what is ours now.
  bool is_own(const model::Card& card) const;

  Result<std::string> sign(const model::Card& card) const;
  // As the buyer, what the book says was held; and what the buyer alone knows.
  struct Terms {
    const model::Card& own;
    const model::Card& provider;
    model::Trust trust = model::Trust::first_use;
    Instant sign_by = {};
    model::Fabric fabric = {};
  };
  Result<std::string> sign(const model::Contract& contract, const Terms& terms) const;
  // As the provider.
  Result<std::string> countersign(std::string document) const;
  Result<std::string> sign(const Under& under, const Deed& deed, int64_t number, Instant now) const;

 private:
  Signatory(pki::Key key, std::string federation, ClusterId cluster, std::string key_text,
            pki::SealingKey sealing);

  pki::Key key_;
  std::string federation_;
  ClusterId cluster_;
  std::string key_text_;
  std::shared_ptr<const pki::SealingKey> sealing_;
};

}  // namespace spillway::agent
