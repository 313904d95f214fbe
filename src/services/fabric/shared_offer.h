// What the nodes of a contract look like: an offer, of which there is one copy however many
// contracts go by it. A buyer of hundreds of units buys them by a few offers, and each is some
// kilobytes.
#pragma once

#include <memory>
#include <utility>

#include "model/fields.h"
#include "model/offer.h"

namespace spillway::agent {

class SharedOffer {
 public:
  SharedOffer() : SharedOffer(model::Offer{}) {}
  SharedOffer(model::Offer offer)  // NOLINT(google-explicit-constructor): it is one
      : offer_(std::make_shared<const model::Offer>(std::move(offer))) {}

  const model::Offer& operator*() const { return *offer_; }
  bool operator==(const SharedOffer& other) const {
    return offer_ == other.offer_ || *offer_ == *other.offer_;
  }
  // True: they were equal, and are one from now on.
  bool share_with(const SharedOffer& other) {
    if (!(*this == other)) return false;
    offer_ = other.offer_;
    return true;
  }

 private:
  std::shared_ptr<const model::Offer> offer_;  // never null
};

// As the offer itself (model/codec.h).
inline void read_value(const model::Spot& at, SharedOffer& value) {
  model::Offer offer;
  model::read_value(at, offer);
  value = SharedOffer(std::move(offer));
}
inline void write_value(model::Output& out, const SharedOffer& value) {
  model::write_value(out, *value);
}

}  // namespace spillway::agent
