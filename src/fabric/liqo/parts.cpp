#include "fabric/liqo/parts.h"

#include "base/arithmetic.h"

namespace spillway::fabric::liqo {
namespace {

std::string_view text_of(const Texts& texts, std::string_view key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string_view{} : found->second;
}

}  // namespace

std::string_view Meta::label(std::string_view key) const { return text_of(labels, key); }
std::string_view Meta::annotation(std::string_view key) const { return text_of(annotations, key); }

Amounts amounts_of(const model::Resources& resources, std::string_view gpu_name) {
  Amounts made{
      {"cpu", resources.cpu_millis}, {"memory", resources.memory_bytes}, {"pods", resources.pods}};
  if (resources.storage_bytes != 0) made["ephemeral-storage"] = resources.storage_bytes;
  for (const model::Count& count : resources.extended) made[count.name] = count.amount;
  for (const model::Count& gpu : resources.gpus) {
    int64_t& all = made[std::string(gpu_name)];
    all = checked_add(all, gpu.amount);
  }
  return made;
}

std::string_view status_of(const Conditions& conditions, std::string_view type) {
  for (auto at = conditions.rbegin(); at != conditions.rend(); ++at) {
    if (at->type == type) return at->status;
  }
  return {};
}

}  // namespace spillway::fabric::liqo
