#include "supply/gpu.h"

#include <algorithm>
#include <array>

#include "model/validation.h"

namespace spillway::supply {
namespace {

struct Vendor {
  std::string_view name;
  std::string_view resource;
  std::array<std::string_view, 2> labels;
};
constexpr std::array<Vendor, 2> k_vendors{
    {{"amd", "amd.com/gpu", {"amd.com/gpu.product-name", "beta.amd.com/gpu.product-name"}},
     {"nvidia", "nvidia.com/gpu", {"nvidia.com/gpu.product", ""}}}};

char plain(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '_' ? '-' : c;
}

bool has(const model::Counts& counts, std::string_view name) {
  return std::any_of(counts.begin(), counts.end(),
                     [name](const model::Count& count) { return count.name == name; });
}

bool says_product(const Vendor& vendor, const NodeRow& node) {
  return std::any_of(vendor.labels.begin(), vendor.labels.end(), [&node](std::string_view key) {
    const std::string* product = model::find_label(node.labels, key);
    return product != nullptr && !product->empty();
  });
}

std::string model_of(const Vendor& vendor, const NodeRow& node,
                     const std::map<std::string, std::string>& models) {
  const std::string vendor_name(vendor.name);
  for (const std::string_view key : vendor.labels) {
    const std::string* product = model::find_label(node.labels, key);
    if (product == nullptr || product->empty()) continue;
    if (const auto named = models.find(*product); named != models.end()) return named->second;
    std::string model = *product;
    std::transform(model.begin(), model.end(), model.begin(), plain);
    if (!model.starts_with(vendor_name)) model.insert(0, vendor_name + "-");
    // A label's value may be as long as a model's name: then there is no room for the vendor.
    return model::is_label_value(model) ? model : model.substr(vendor_name.size() + 1);
  }
  return vendor_name + "-gpu";
}

int64_t take(model::Counts& counts, std::string_view name) {
  const auto at = std::find_if(counts.begin(), counts.end(),
                               [name](const model::Count& count) { return count.name == name; });
  if (at == counts.end()) return 0;
  const int64_t amount = at->amount;
  counts.erase(at);
  return amount;
}

}  // namespace

GpuKinds gpu_kinds(const NodeRow& node, const std::map<std::string, std::string>& models) {
  GpuKinds kinds;
  for (const Vendor& vendor : k_vendors) {
    const bool there = has(node.allocatable.extended, vendor.resource) ||
                       has(node.devices, vendor.resource) || says_product(vendor, node);
    if (there) kinds.push_back({std::string(vendor.resource), model_of(vendor, node, models)});
  }
  return kinds;
}

model::Resources by_model(model::Resources resources, const GpuKinds& kinds) {
  model::Resources gpus;
  for (const GpuKind& kind : kinds) {
    const int64_t amount = take(resources.extended, kind.resource);
    if (amount == 0) continue;
    model::Resources of_kind;
    of_kind.gpus.push_back({kind.model, amount});
    gpus += of_kind;
  }
  for (model::Count& gpu : gpus.gpus) gpu.amount = std::min(gpu.amount, model::k_max_amount);
  resources.gpus = std::move(gpus.gpus);
  return resources;
}

}  // namespace spillway::supply
