// Members that sign: with a card, and contracts that both sides have signed over the wire.
#pragma once

#include <memory>
#include <string>

#include "live/federation.h"
#include "model/agreement.h"
#include "pki/envelope.h"

namespace spillway::test {

struct Signer {
  Papers papers;
  pki::Key key;
  pki::SealingKey sealing;

  ClusterId cluster() const { return ClusterId(papers.name); }
  model::Signatory signatory() const;
};

// Joins, and shows its card.
std::unique_ptr<Signer> join_signer(Members& members, const std::string& name,
                                    const model::Roles& roles);

// One unit of seller/small, held under `key` and signed by both.
model::Agreement agree_over_the_wire(Members& members, const Signer& buyer, const Signer& seller,
                                     const std::string& key);

}  // namespace spillway::test
