// The ledger as a document, to be kept and found again after a restart.
#pragma once

#include <string>
#include <string_view>

#include "demand/ledger.h"

namespace spillway::demand {

std::string to_json(const LedgerState& state);
Result<LedgerState> ledger_from_json(std::string_view text, std::string_view source = "ledger");

}  // namespace spillway::demand
