// The contracts of a member, on whichever side of them it is: those it bought and those it sold.
// The store finds each by an index in order of id, so a page costs what is on it, however many
// pools and offers a provider has.
#pragma once

#include <string>
#include <vector>

#include "services/broker/desk.h"

namespace spillway::services {

struct OwnContracts {
  std::vector<host::Row> rows;  // live ones, in order of id
  bool more = false;            // there may be more after the last of them
};

// What to load for a page of them: the bought, then the sold.
std::vector<host::Scan> scans_of_own(const std::string& name, const PageAsked& page);
// The page, of what those two found.
OwnContracts merge_own(const std::vector<host::Row>& bought, const std::vector<host::Row>& sold,
                       int32_t limit);

}  // namespace spillway::services
