#include "demand/node_image.h"

#include <algorithm>
#include <map>

#include "model/reserved.h"

namespace spillway::demand {
namespace {

constexpr std::string_view k_arch = "kubernetes.io/arch";

std::string name_in(const OfferId& offer) {
  return offer.text.substr(owner_of(offer.text).size() + 1);
}

// "nvidia-a100" is counted as nvidia.com/gpu; what has no vendor that we know, by its own name.
std::string gpu_resource(const std::string& model) {
  if (model.starts_with("amd-")) return "amd.com/gpu";
  if (model.starts_with("intel-")) return "gpu.intel.com/i915";
  return "nvidia.com/gpu";
}

}  // namespace

model::Resources as_node_has(const model::Resources& shape) {
  model::Resources has = shape;
  has.gpus.clear();
  for (const model::Count& gpu : shape.gpus) {
    model::Resources counted;
    counted.extended = {{gpu_resource(gpu.name), gpu.amount}};
    has += counted;
  }
  return has;
}

NodeImage node_image(const model::Offer& offer, std::string name, std::string provider_id) {
  const std::string provider(owner_of(offer.id.text));
  std::map<std::string, std::string> labels;
  for (const model::Label& label : offer.labels) {
    if (!model::is_reserved_label(label.key)) labels[label.key] = label.value;
  }
  if (!offer.place.region.empty()) {
    labels.try_emplace("topology.kubernetes.io/region", offer.place.region);
  }
  labels["kubernetes.io/hostname"] = name;
  labels["kubernetes.io/os"] = "linux";
  labels.try_emplace(std::string(k_arch), "amd64");
  labels["liqo.io/type"] = "virtual-node";
  labels["liqo.io/remote-cluster-id"] = provider;
  labels["node.kubernetes.io/exclude-from-external-load-balancers"] = "true";
  labels[k_provider_label] = provider;
  labels[k_offer_label] = name_in(offer.id);
  if (!offer.shape.gpus.empty()) labels[k_gpu_label] = offer.shape.gpus.front().name;
  NodeImage image{std::move(name),
                  std::move(provider_id),
                  labels.at(std::string(k_arch)),
                  as_node_has(offer.shape),
                  {},
                  {}};
  for (const model::Taint& taint : offer.taints) {
    if (!model::is_reserved_taint(taint.key)) image.taints.push_back(taint);
  }
  for (const auto& [key, value] : labels) image.labels.push_back({key, value});
  image.taints.push_back(
      {"virtual-node.liqo.io/not-allowed", "true", model::TaintEffect::no_execute});
  return image;
}

OfferId offer_of(const model::Labels& labels) {
  const std::string* provider = model::find_label(labels, k_provider_label);
  const std::string* name = model::find_label(labels, k_offer_label);
  if (provider == nullptr || name == nullptr) return {};
  return OfferId(*provider + "/" + *name);
}

}  // namespace spillway::demand
