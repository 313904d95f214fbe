#include "embedded/amounts.h"

#include <algorithm>

#include "base/arithmetic.h"
#include "embedded/document.h"
#include "model/tree.h"

namespace spillway::embedded {
namespace {

using model::Node;

// Requests that are not given are the limits.
Amounts requests_of_container(const Node& container) {
  Amounts wanted = read_amounts(model::look(container, {"resources", "limits"}));
  for (auto& [resource, amount] : read_amounts(model::look(container, {"resources", "requests"}))) {
    wanted[resource] = amount;
  }
  return wanted;
}

void raise(Amounts& highest, const Amounts& other) {
  for (const auto& [resource, amount] : other) {
    int64_t& mine = highest[resource];
    mine = std::max(mine, amount);
  }
}

}  // namespace

Rounding rounding_of(std::string_view quantity) {
  return quantity.starts_with('-') ? Rounding::down : Rounding::up;
}

std::optional<int64_t> parse_amount(std::string_view resource, std::string_view text) {
  const QuantityStep step = resource == "cpu" ? QuantityStep::milli : QuantityStep::whole;
  const auto amount = parse_quantity(text, step, rounding_of(text));
  return amount ? std::optional(*amount) : std::nullopt;
}

Amounts read_amounts(const Node* resources) {
  Amounts amounts;
  if (resources == nullptr) return amounts;
  for (const Node& item : resources->items) {
    const auto amount = parse_amount(item.key, scalar_text(&item));
    amounts[item.key] = std::max<int64_t>(0, amount.value_or(0));
  }
  return amounts;
}

Amounts requests_of(const Node& pod) {
  Amounts sum;
  for (const Node& container : model::items_at(pod, {"spec", "containers"})) {
    add(sum, requests_of_container(container));
  }
  Amounts sidecars;
  Amounts highest;
  for (const Node& container : model::items_at(pod, {"spec", "initContainers"})) {
    Amounts wanted = requests_of_container(container);
    add(wanted, sidecars);
    if (model::text_at(container, {"restartPolicy"}) == "Always") sidecars = wanted;
    raise(highest, wanted);
  }
  add(sum, sidecars);
  raise(sum, highest);
  add(sum, read_amounts(model::look(pod, {"spec", "overhead"})));
  sum["pods"] = 1;
  return sum;
}

void add(Amounts& sum, const Amounts& more) {
  for (const auto& [resource, amount] : more) {
    int64_t& all = sum[resource];
    all = try_add(all, amount).value_or(INT64_MAX);
  }
}

void subtract(Amounts& sum, const Amounts& less) {
  for (const auto& [resource, amount] : less) {
    int64_t& all = sum[resource];
    all = std::max<int64_t>(0, all - std::max<int64_t>(0, amount));
  }
}

}  // namespace spillway::embedded
