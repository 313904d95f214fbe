#include "services/agent/notices.h"

#include <algorithm>
#include <tuple>

namespace spillway::agent {
namespace {

bool both(int64_t has, int64_t lacks) { return has > 0 && lacks > 0; }

bool eases(const model::Counts& has, const model::Counts& lacks) {
  return std::any_of(has.begin(), has.end(), [&](const model::Count& one) {
    return std::any_of(lacks.begin(), lacks.end(), [&](const model::Count& other) {
      return one.name == other.name && both(one.amount, other.amount);
    });
  });
}

// Whether ending units of `shape` helps where something is lacking (above zero).
bool eases(const model::Resources& shape, const model::Resources& lack) {
  return both(shape.cpu_millis, lack.cpu_millis) || both(shape.memory_bytes, lack.memory_bytes) ||
         both(shape.pods, lack.pods) || both(shape.storage_bytes, lack.storage_bytes) ||
         eases(shape.gpus, lack.gpus) || eases(shape.extended, lack.extended);
}

}  // namespace

std::vector<ContractId> choose_to_notice(const model::Resources& capacity,
                                         const std::vector<const model::Contract*>& contracts) {
  using model::ContractState;
  model::Resources lack = model::Resources{} - capacity;
  std::vector<const model::Contract*> candidates;
  for (const model::Contract* contract : contracts) {
    if (contract->state == ContractState::closing || !contract->is_live()) continue;
    lack += contract->taken();
    candidates.push_back(contract);
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const model::Contract* a, const model::Contract* b) {
              if (a->state != b->state) return a->state == ContractState::hold;
              return std::tie(b->created, b->id) < std::tie(a->created, a->id);
            });
  std::vector<ContractId> chosen;
  for (const model::Contract* candidate : candidates) {
    const model::Resources taken = candidate->taken();
    if (!eases(taken, lack)) continue;
    lack -= taken;
    chosen.push_back(candidate->id);
  }
  return chosen;
}

}  // namespace spillway::agent
