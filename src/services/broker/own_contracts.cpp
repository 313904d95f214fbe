#include "services/broker/own_contracts.h"

#include <algorithm>
#include <iterator>

namespace spillway::services {

std::vector<host::Scan> scans_of_own(const std::string& name, const PageAsked& page) {
  return {scan_of(market::Kind::contract, host::Scan::By::owner, name, page),
          scan_of(market::Kind::contract, host::Scan::By::provider, name, page)};
}

// Each list is in order and has the first `limit` of its side, so the first `limit` of both are
// here. Nobody buys from itself: no contract is in both.
OwnContracts merge_own(const std::vector<host::Row>& bought, const std::vector<host::Row>& sold,
                       int32_t limit) {
  OwnContracts own;
  own.rows.reserve(bought.size() + sold.size());
  std::merge(bought.begin(), bought.end(), sold.begin(), sold.end(), std::back_inserter(own.rows),
             [](const host::Row& a, const host::Row& b) { return a.key.id < b.key.id; });
  const auto most = static_cast<size_t>(limit);
  own.more = bought.size() == most || own.rows.size() > most || sold.size() == most;
  if (own.rows.size() > most) own.rows.resize(most);
  return own;
}

}  // namespace spillway::services
