#include "model/resources.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>

#include "base/arithmetic.h"
#include "base/quantity.h"
#include "base/text.h"
#include "model/limits.h"
#include "model/validation.h"

namespace spillway::model {
namespace {

// target += sign × other, both sorted. In place while the names are the same, which they nearly
// always are: units of one offer are added to and taken from the same pool over and over.
void merge(Counts& target, const Counts& other, int64_t sign) {
  if (other.empty()) return;
  Counts::iterator at = target.begin();
  for (const Count& count : other) {
    while (at != target.end() && at->name < count.name) ++at;
    const int64_t change = checked_multiply(count.amount, sign);
    if (at == target.end() || at->name != count.name) {
      if (change == 0) continue;
      at = std::next(target.insert(at, Count{count.name, change}));
      continue;
    }
    at->amount = checked_add(at->amount, change);
    at = at->amount == 0 ? target.erase(at) : std::next(at);
  }
}

// Calls visit(name, have, want) for every name on either side, in order, until it answers false.
template <class Visit>
bool for_each_pair(const Counts& have, const Counts& want, Visit visit) {
  auto h = have.begin();
  auto w = want.begin();
  while (h != have.end() || w != want.end()) {
    const int order = h == have.end() ? 1 : w == want.end() ? -1 : h->name.compare(w->name);
    const std::string& name = order <= 0 ? h->name : w->name;
    const int64_t has = order <= 0 ? h->amount : 0;
    const int64_t wants = order >= 0 ? w->amount : 0;
    if (!visit(name, has, wants)) return false;
    if (order <= 0) ++h;
    if (order >= 0) ++w;
  }
  return true;
}

bool covers_counts(const Counts& have, const Counts& want) {
  if (have.empty() && want.empty()) return true;
  return for_each_pair(have, want,
                       [](const std::string&, int64_t has, int64_t wants) { return has >= wants; });
}

// How often `want` fits into `have`; a deficit admits none, wanted or not: covers() says the same.
int64_t fit(int64_t have, int64_t want) {
  if (have < 0) return 0;
  if (want <= 0) return std::numeric_limits<int64_t>::max();
  return have / want;
}

int64_t fit_counts(const Counts& have, const Counts& want, int64_t best) {
  if (have.empty() && want.empty()) return best;
  for_each_pair(have, want, [&best](const std::string&, int64_t has, int64_t wants) {
    best = std::min(best, fit(has, wants));
    return best > 0;
  });
  return best;
}

void append(std::string& text, std::string_view part) {
  if (!text.empty()) text += ", ";
  text += part;
}

enum class NameRule { gpu_model, resource_name };

Status check_counts(std::string_view path, const Counts& counts, NameRule rule) {
  SPILLWAY_TRY(check_size(path, counts.size(), k_max_names));
  const std::string* last = nullptr;
  for (const Count& count : counts) {
    // Kubernetes wants extended resources fully qualified; so do we, or two parties could mean
    // different things by one short name.
    const bool well_formed =
        rule == NameRule::gpu_model
            ? !count.name.empty() && is_label_value(count.name)
            : is_qualified_name(count.name) && count.name.find('/') != std::string::npos;
    if (!well_formed) {
      return refuse(path,
                    in_quotes(count.name) +
                        (rule == NameRule::gpu_model ? " is no GPU model" : " is no resource name"),
                    rule == NameRule::gpu_model
                        ? "write it as a label value, such as nvidia-a100"
                        : "write <DNS name>/<name>, such as example.com/fpga");
    }
    if (last != nullptr && *last >= count.name) {
      return refuse(path, in_quotes(count.name) + " is out of order or there twice",
                    "sort by name, each once");
    }
    SPILLWAY_TRY(under(path, check_range(count.name, count.amount, 1, k_max_amount)));
    last = &count.name;
  }
  return {};
}

}  // namespace

bool Resources::is_zero() const {
  return cpu_millis == 0 && memory_bytes == 0 && pods == 0 && storage_bytes == 0 && gpus.empty() &&
         extended.empty();
}

Resources& Resources::operator+=(const Resources& other) {
  cpu_millis = checked_add(cpu_millis, other.cpu_millis);
  memory_bytes = checked_add(memory_bytes, other.memory_bytes);
  pods = checked_add(pods, other.pods);
  storage_bytes = checked_add(storage_bytes, other.storage_bytes);
  merge(gpus, other.gpus, 1);
  merge(extended, other.extended, 1);
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  cpu_millis = checked_subtract(cpu_millis, other.cpu_millis);
  memory_bytes = checked_subtract(memory_bytes, other.memory_bytes);
  pods = checked_subtract(pods, other.pods);
  storage_bytes = checked_subtract(storage_bytes, other.storage_bytes);
  merge(gpus, other.gpus, -1);
  merge(extended, other.extended, -1);
  return *this;
}

Resources Resources::times(int64_t n) const {
  Resources product;
  product.cpu_millis = checked_multiply(cpu_millis, n);
  product.memory_bytes = checked_multiply(memory_bytes, n);
  product.pods = checked_multiply(pods, n);
  product.storage_bytes = checked_multiply(storage_bytes, n);
  if (n == 0) return product;  // a list holds no zeros
  product.gpus = gpus;
  product.extended = extended;
  for (Count& count : product.gpus) count.amount = checked_multiply(count.amount, n);
  for (Count& count : product.extended) count.amount = checked_multiply(count.amount, n);
  return product;
}

bool Resources::covers(const Resources& part) const {
  return cpu_millis >= part.cpu_millis && memory_bytes >= part.memory_bytes && pods >= part.pods &&
         storage_bytes >= part.storage_bytes && covers_counts(gpus, part.gpus) &&
         covers_counts(extended, part.extended);
}

int32_t Resources::how_many(const Resources& part) const {
  if (part.is_zero()) return std::numeric_limits<int32_t>::max();
  int64_t best = fit(cpu_millis, part.cpu_millis);
  best = std::min(best, fit(memory_bytes, part.memory_bytes));
  best = std::min(best, fit(pods, part.pods));
  best = std::min(best, fit(storage_bytes, part.storage_bytes));
  if (best > 0) best = fit_counts(gpus, part.gpus, best);
  if (best > 0) best = fit_counts(extended, part.extended, best);
  return static_cast<int32_t>(std::min<int64_t>(best, std::numeric_limits<int32_t>::max()));
}

std::string_view Resources::first_short(const Resources& part) const {
  if (cpu_millis < part.cpu_millis) return "cpu";
  if (memory_bytes < part.memory_bytes) return "memory";
  if (pods < part.pods) return "pods";
  if (storage_bytes < part.storage_bytes) return "storage";
  std::string_view found;
  const auto covered = [&found](const std::string& name, int64_t has, int64_t wants) {
    if (has < wants) found = name;
    return has >= wants;
  };
  if (for_each_pair(gpus, part.gpus, covered)) for_each_pair(extended, part.extended, covered);
  return found;
}

Resources operator+(Resources a, const Resources& b) {
  a += b;
  return a;
}

Resources operator-(Resources a, const Resources& b) {
  a -= b;
  return a;
}

namespace {

// Exact where that is short, else with one decimal, rounded towards zero: nobody reads 33285996544.
std::string bytes_for_people(int64_t bytes) {
  constexpr size_t k_short = 6;
  constexpr std::array<std::string_view, 6> k_units{"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  std::string exact = bytes_to_text(bytes);
  if (exact.size() <= k_short) return exact;
  size_t power = 0;
  int64_t unit = 1;
  while (power + 1 < k_units.size() && (bytes / unit >= 1024 || bytes / unit <= -1024)) {
    unit *= 1024;
    ++power;
  }
  const int64_t tenths = std::abs(bytes % unit) * 10 / unit;
  const std::string decimal = tenths == 0 ? "" : fmt::format(".{}", tenths);
  return fmt::format("{}{}{}", bytes / unit, decimal, k_units[power]);
}

}  // namespace

std::string to_text(const Resources& resources) {
  std::string text;
  if (resources.cpu_millis != 0) append(text, cpu_to_text(resources.cpu_millis) + " cpu");
  if (resources.memory_bytes != 0)
    append(text, bytes_for_people(resources.memory_bytes) + " memory");
  if (resources.pods != 0) append(text, std::to_string(resources.pods) + " pods");
  if (resources.storage_bytes != 0) {
    append(text, bytes_for_people(resources.storage_bytes) + " storage");
  }
  for (const Count& gpu : resources.gpus) {
    append(text, std::to_string(gpu.amount) + " × " + gpu.name);
  }
  for (const Count& count : resources.extended) {
    append(text, std::to_string(count.amount) + " × " + count.name);
  }
  return text.empty() ? "nothing" : text;
}

Status validate(const Resources& resources) {
  SPILLWAY_TRY(check_cpu("cpu", resources.cpu_millis, k_max_amount));
  SPILLWAY_TRY(check_bytes("memory", resources.memory_bytes, k_max_amount));
  SPILLWAY_TRY(check_range("pods", resources.pods, 0, k_max_amount));
  SPILLWAY_TRY(check_bytes("storage", resources.storage_bytes, k_max_amount));
  SPILLWAY_TRY(check_counts("gpus", resources.gpus, NameRule::gpu_model));
  return check_counts("extended", resources.extended, NameRule::resource_name);
}

}  // namespace spillway::model
