// Edits: which of the objects that a machine keeps somebody else has edited. One that was as it
// should be, and is not while it should still be the same, was edited; one that should be something
// else now was not. Told once, until it is right again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fabric/deed.h"

namespace spillway::agent {

class Edits {
 public:
  std::vector<fabric::Trouble> find(const std::vector<fabric::Kept>& kept);

 private:
  std::map<std::string, size_t> right_;  // what each was when it was as it should be
};

}  // namespace spillway::agent
