#include "demand/placeholder.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace spillway::demand {
namespace {

constexpr std::string_view k_ask = "spillway://ask-";

template <class Number>
std::optional<Number> read_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  return is_whole && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string placeholder_id(const Ask& ask, int32_t number) {
  if (ask.is_purchase()) {
    return unit_provider_id(ask.contract, ask.units[static_cast<size_t>(number)]);
  }
  return fmt::format("{}{}/{}", k_ask, ask.generation, number);
}

std::optional<Placeholder> read_placeholder(const NodeRef& node) {
  std::string_view text = node.provider_id.empty() ? node.name : node.provider_id;
  if (!text.starts_with(k_ask)) return std::nullopt;
  text.remove_prefix(k_ask.size());
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto generation = read_number<int64_t>(text.substr(0, slash));
  const auto number = read_number<int32_t>(text.substr(slash + 1));
  if (!generation || !number) return std::nullopt;
  return Placeholder{*generation, *number};
}

}  // namespace spillway::demand
