#include "market/mutants.h"

#ifdef SPILLWAY_MUTANTS
namespace spillway::market {
namespace {
Mutant g_mutant = Mutant::none;
}

bool mutant(Mutant which) { return g_mutant == which; }

bool set_mutant(std::string_view name) {
  for (size_t i = 0; i < k_mutant_names.size(); ++i) {
    if (k_mutant_names[i] != name) continue;
    g_mutant = static_cast<Mutant>(i);
    return true;
  }
  return false;
}

}  // namespace spillway::market
#endif
