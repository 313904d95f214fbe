// From what the broker has to what it tells.
#pragma once

#include <string>

#include "host/store.h"
#include "services/wire/bodies.h"

namespace spillway::wire {

PoolRow row_of(const market::PoolRecord& record);
OfferRow row_of(const market::OfferRecord& record);
model::Cluster row_of(const market::AccountRecord& record);
inline const model::Contract& row_of(const model::Contract& contract) { return contract; }
IdentityRow row_of(const model::Identity& identity);
TokenRow row_of(const market::TokenRecord& record);
QueryAnswer answer_of(const rank::Ranking& ranking);
ContractAnswer answer_of(const model::Contract& contract);
EventBody body_of(const market::Event& event, bool with_origin);
std::string event_json(const market::Event& event, bool with_origin);

}  // namespace spillway::wire
