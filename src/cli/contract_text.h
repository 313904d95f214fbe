// Contracts as people read them.
#pragma once

#include <string>

#include "cli/table.h"
#include "cli/when.h"
#include "services/wire/bodies.h"

namespace spillway::cli {

Table contracts_table(const std::vector<model::Contract>& contracts, const Clock& clock);
std::string contract_text(const model::Contract& contract, const Clock& clock);
std::string grants_text(const wire::HoldAnswer& told, const Clock& clock);

}  // namespace spillway::cli
