// What is there of what the two machines make. Whoever hosts them goes by it at a start: what they
// make later, though it was there, somebody has removed.
#pragma once

#include <string>
#include <vector>

#include "fabric/buyer.h"
#include "fabric/seller.h"

namespace spillway::fabric {

// But for what is going already.
std::vector<Place> present(const std::string& provider, const BuyerSight& sight);
std::vector<Place> present(const std::string& buyer, const SellerSight& sight);

}  // namespace spillway::fabric
