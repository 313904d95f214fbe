#include "model/use.h"

#include <algorithm>

#include "base/money.h"
#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {
namespace {

constexpr int64_t k_core_ms_an_hour = 3'600'000;
constexpr int64_t k_mib_s_a_gib_hour = int64_t{1024} * 3600;

const Count* find_used(const Counts& counts, const std::string& name) {
  const auto at = std::find_if(counts.begin(), counts.end(),
                               [&](const Count& one) { return one.name == name; });
  return at == counts.end() ? nullptr : &*at;
}

bool covers_used(const Counts& have, const Counts& want) {
  return std::all_of(want.begin(), want.end(), [&](const Count& one) {
    const Count* has = find_used(have, one.name);
    return has != nullptr && has->amount >= one.amount;
  });
}

Counts least_used(const Counts& one, const Counts& other) {
  Counts least;
  for (const Count& count : one) {
    const Count* has = find_used(other, count.name);
    if (has != nullptr) least.push_back({count.name, std::min(count.amount, has->amount)});
  }
  return least;
}

Status check_used(std::string_view path, const Counts& counts) {
  SPILLWAY_TRY(check_size(path, counts.size(), k_max_names));
  const std::string* last = nullptr;
  for (const Count& count : counts) {
    if (count.name.empty() || !is_qualified_name(count.name)) {
      return refuse(path, in_quotes(count.name) + " is no name of a resource");
    }
    if (last != nullptr && *last >= count.name) {
      return refuse(path, in_quotes(count.name) + " is out of order or there twice",
                    "sort by name, each once");
    }
    SPILLWAY_TRY(under(path, check_range(count.name, count.amount, 1, k_max_use)));
    last = &count.name;
  }
  return {};
}

// Hours with at most six decimals, cut off: for people.
std::string hours_text(int64_t amount, int64_t an_hour) {
  constexpr Int128 k_millionths = 1'000'000;
  return micros_to_text(checked_narrow(amount * k_millionths / an_hour));
}

void append_use(std::string& text, int64_t amount, int64_t an_hour, std::string_view what) {
  if (amount == 0) return;
  if (!text.empty()) text += ", ";
  text += fmt::format("{} {}", hours_text(amount, an_hour), what);
}

}  // namespace

bool Use::covers(const Use& other) const {
  return cpu_core_ms >= other.cpu_core_ms && memory_mib_s >= other.memory_mib_s &&
         storage_mib_s >= other.storage_mib_s && covers_used(gpu_ms, other.gpu_ms) &&
         covers_used(extended_ms, other.extended_ms);
}

Use least(const Use& one, const Use& other) {
  return {.cpu_core_ms = std::min(one.cpu_core_ms, other.cpu_core_ms),
          .memory_mib_s = std::min(one.memory_mib_s, other.memory_mib_s),
          .storage_mib_s = std::min(one.storage_mib_s, other.storage_mib_s),
          .gpu_ms = least_used(one.gpu_ms, other.gpu_ms),
          .extended_ms = least_used(one.extended_ms, other.extended_ms)};
}

Status validate(const Use& use) {
  SPILLWAY_TRY(check_range("cpu_core_ms", use.cpu_core_ms, 0, k_max_use));
  SPILLWAY_TRY(check_range("memory_mib_s", use.memory_mib_s, 0, k_max_use));
  SPILLWAY_TRY(check_range("storage_mib_s", use.storage_mib_s, 0, k_max_use));
  SPILLWAY_TRY(check_used("gpu_ms", use.gpu_ms));
  return check_used("extended_ms", use.extended_ms);
}

std::string to_text(const Use& use) {
  std::string text;
  append_use(text, use.cpu_core_ms, k_core_ms_an_hour, "cpu hours");
  append_use(text, use.memory_mib_s, k_mib_s_a_gib_hour, "GiB hours of memory");
  append_use(text, use.storage_mib_s, k_mib_s_a_gib_hour, "GiB hours of storage");
  for (const Count& gpu : use.gpu_ms) {
    append_use(text, gpu.amount, k_core_ms_an_hour, gpu.name + " hours");
  }
  for (const Count& one : use.extended_ms) {
    append_use(text, one.amount, k_core_ms_an_hour, one.name + " hours");
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace spillway::model
