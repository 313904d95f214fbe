#include "supply/requests.h"

#include <algorithm>

#include "base/text.h"
#include "model/validation.h"
#include "supply/document.h"

namespace spillway::supply {
namespace {

using model::Node;

int64_t capped_sum(int64_t a, int64_t b) { return std::min(a + b, model::k_max_amount); }

bool is_extended(std::string_view name) {
  return name.find('/') != std::string_view::npos && model::is_qualified_name(name);
}

// The place of `name` in a sorted list, made when it is not there.
int64_t& amount_of(model::Counts& counts, std::string_view name) {
  auto at = std::lower_bound(counts.begin(), counts.end(), name,
                             [](const model::Count& c, std::string_view n) { return c.name < n; });
  if (at == counts.end() || at->name != name) {
    at = counts.insert(at, model::Count{std::string(name), 0});
  }
  return at->amount;
}

void drop_zeros(model::Counts& counts) {
  std::erase_if(counts, [](const model::Count& count) { return count.amount == 0; });
}

template <class Change>
void merge(model::Counts& into, const model::Counts& other, Change change) {
  for (const model::Count& count : other) {
    int64_t& amount = amount_of(into, count.name);
    amount = change(amount, count.amount);
  }
}

Result<int64_t> read_amount(const Node& member, Rounding rounding) {
  const QuantityStep step = member.key == "cpu" ? QuantityStep::milli : QuantityStep::whole;
  const bool is_text = member.kind == Node::Kind::string || member.kind == Node::Kind::decimal;
  if (!is_text && member.kind != Node::Kind::integer) {
    return unreadable(member.key, "no quantity");
  }
  const auto amount =
      parse_quantity(is_text ? member.text : std::to_string(member.integer), step, rounding);
  if (!amount) return unreadable(member.key, amount.error().reason);
  if (*amount < 0) return unreadable(member.key, "negative");
  return std::min(*amount, model::k_max_amount);
}

// Calls set(name, amount) for each resource in the list.
template <class Set>
Status read_list(const Node& list, Rounding rounding, Set set) {
  if (list.kind != Node::Kind::object) return unreadable("resources", "no object");
  for (const Node& member : list.items) {
    const auto amount = read_amount(member, rounding);
    if (!amount) return tl::unexpected(amount.error());
    set(member.key, *amount);
  }
  return {};
}

}  // namespace

void Requests::add(const Requests& other) {
  cpu_millis = capped_sum(cpu_millis, other.cpu_millis);
  memory_bytes = capped_sum(memory_bytes, other.memory_bytes);
  storage_bytes = capped_sum(storage_bytes, other.storage_bytes);
  merge(extended, other.extended, capped_sum);
}

void Requests::raise_to(const Requests& other) {
  cpu_millis = std::max(cpu_millis, other.cpu_millis);
  memory_bytes = std::max(memory_bytes, other.memory_bytes);
  storage_bytes = std::max(storage_bytes, other.storage_bytes);
  merge(extended, other.extended, [](int64_t a, int64_t b) { return std::max(a, b); });
}

model::Resources Requests::with_one_pod() const {
  return {.cpu_millis = cpu_millis,
          .memory_bytes = memory_bytes,
          .pods = 1,
          .storage_bytes = storage_bytes,
          .gpus = {},
          .extended = extended};
}

Status read_requests(Requests& into, const Node& list) {
  auto status = read_list(list, Rounding::up, [&into](std::string_view name, int64_t amount) {
    if (name == "cpu") into.cpu_millis = amount;
    if (name == "memory") into.memory_bytes = amount;
    if (name == "ephemeral-storage") into.storage_bytes = amount;
    if (is_extended(name)) amount_of(into.extended, name) = amount;
  });
  drop_zeros(into.extended);
  return status;
}

Result<model::Counts> read_devices(const Node& list) {
  model::Counts devices;
  SPILLWAY_TRY(read_list(list, Rounding::down, [&devices](std::string_view name, int64_t amount) {
    if (is_extended(name)) amount_of(devices, name) = amount;
  }));
  return devices;
}

Result<model::Resources> read_allocatable(const Node& list) {
  model::Resources there;
  SPILLWAY_TRY(read_list(list, Rounding::down, [&there](std::string_view name, int64_t amount) {
    if (name == "cpu") there.cpu_millis = amount;
    if (name == "memory") there.memory_bytes = amount;
    if (name == "pods") there.pods = amount;
    if (name == "ephemeral-storage") there.storage_bytes = amount;
    if (is_extended(name)) amount_of(there.extended, name) = amount;
  }));
  drop_zeros(there.extended);
  return there;
}

}  // namespace spillway::supply
