#include "services/driver/order.h"

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "model/limits.h"
#include "model/reserved.h"
#include "model/validation.h"

namespace spillway::driver {
namespace {

constexpr size_t k_most_annotations = 64;
constexpr size_t k_longest_annotation = 4096;
constexpr size_t k_most_annotation_bytes = size_t{16} << 10;  // of one order, with their keys
constexpr size_t k_longest_provider_id = 253;
constexpr std::string_view k_prefix = "sw-";

Status check_annotations(const std::map<std::string, std::string>& annotations) {
  SPILLWAY_TRY(model::check_size("annotations", annotations.size(), k_most_annotations));
  for (const auto& [key, value] : annotations) {
    SPILLWAY_TRY(model::check_label_key("annotations", key));
    if (value.size() <= k_longest_annotation) continue;
    return model::refuse("annotations", "the value of " + in_quotes(key) + " is too long");
  }
  return {};
}

Status check_taints(const std::vector<model::Taint>& taints) {
  SPILLWAY_TRY(model::under("taints", model::validate(taints)));
  for (const model::Taint& taint : taints) {
    if (!model::is_reserved_taint(taint.key)) continue;
    return model::refuse("taints",
                         in_quotes(taint.key) + " is Kubernetes', Liqo's or Spillway's own",
                         "choose a key of your own");
  }
  return {};
}

Status check_provider_id(const std::string& id) {
  if (id.empty()) return {};
  const bool is_good = id.size() <= k_longest_provider_id && is_printable(id) &&
                       id.find("://") != std::string::npos && id.find(' ') == std::string::npos;
  if (is_good) return {};
  return model::refuse("provider_id", "it is not of the form <scheme>://<id>");
}

}  // namespace

Status validate(const UnitOrder& order) {
  SPILLWAY_TRY(model::at("consumer", check_cluster_id(order.consumer)));
  SPILLWAY_TRY(model::at("provider", check_cluster_id(order.provider)));
  if (order.consumer == order.provider) {
    return model::refuse("provider", "it is the consumer itself");
  }
  SPILLWAY_TRY(model::under("resources", validate(order.resources)));
  if (order.resources.is_zero()) return model::refuse("resources", "there are none");
  SPILLWAY_TRY(model::under("labels", model::validate(order.labels)));
  SPILLWAY_TRY(check_taints(order.taints));
  SPILLWAY_TRY(check_annotations(order.annotations));
  SPILLWAY_TRY(check_provider_id(order.provider_id));
  return model::check_range("fence", order.fence, seconds(1), model::k_longest_wait);
}

Status check_annotation_bytes(const UnitOrder& order) {
  size_t bytes = 0;
  for (const auto& [key, value] : order.annotations) bytes += key.size() + value.size();
  if (bytes <= k_most_annotation_bytes) return {};
  return model::refuse("annotations", fmt::format("they take {} bytes", bytes),
                       fmt::format("{} is the most, with their keys", k_most_annotation_bytes));
}

Status validate(const PeeringOrder& order) {
  return order.until ? model::check_time("until", *order.until) : Status{};
}

Result<UnitName> parse_unit(std::string_view text) {
  const auto refuse = [text] {
    return fail(Code::invalid, "unit " + in_quotes(text.substr(0, 80)),
                "it is not of the form sw-<contract>-<n>",
                "a contract's id has 26 characters, in order of time; `spillway driver order` "
                "makes one");
  };
  const size_t dash = text.rfind('-');
  if (!text.starts_with(k_prefix) || dash <= k_prefix.size()) return refuse();
  UnitName name{ContractId(std::string(text.substr(k_prefix.size(), dash - k_prefix.size())))};
  const std::string_view digits = text.substr(dash + 1);
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, name.number);
  const bool is_number = error == std::errc{} && stop == end && name.number >= 0 &&
                         std::cmp_less(name.number, model::k_max_units);
  if (!is_number || !check_contract_id(name.contract.text)) return refuse();
  if (unit_name(name.contract, name.number) != text) return refuse();
  return name;
}

std::string provider_id_of(const std::string& unit, const UnitOrder& order) {
  if (!order.provider_id.empty()) return order.provider_id;
  const auto name = parse_unit(unit);
  return name ? unit_provider_id(name->contract, name->number) : std::string();
}

std::string_view unlikeness(const UnitOrder& one, const UnitOrder& other) {
  if (one.consumer != other.consumer) return "consumer";
  if (one.provider != other.provider) return "provider";
  if (one.resources != other.resources) return "resources";
  if (one.labels != other.labels) return "labels";
  if (one.annotations != other.annotations) return "annotations";
  if (one.taints != other.taints) return "taints";
  if (one.fence != other.fence) return "fence";
  return {};
}

std::string_view difference(const UnitOrder& known, const UnitOrder& next) {
  if (const std::string_view field = unlikeness(known, next); !field.empty()) return field;
  if (known.provider_id != next.provider_id) return "provider_id";
  if (!known.spare && next.spare) return "spare";
  return {};
}

}  // namespace spillway::driver
