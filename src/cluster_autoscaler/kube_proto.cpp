#include "cluster_autoscaler/kube_proto.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/quantity.h"
#include "cluster_autoscaler/protobuf.h"
#include "model/fields.h"

namespace spillway::cluster_autoscaler {
namespace {

using Amounts = std::map<std::string, int64_t, std::less<>>;  // cpu in millicores

ProtoWriter quantity(std::string_view text) { return std::move(ProtoWriter().text(1, text)); }

// What a container asks for: a pod is no resource of one.
void write_requests(ProtoWriter& to, uint32_t field, const model::Resources& r) {
  to.entry(field, "cpu", quantity(cpu_to_text(r.cpu_millis)));
  to.entry(field, "memory", quantity(bytes_to_text(r.memory_bytes)));
  to.entry(field, "ephemeral-storage", quantity(bytes_to_text(r.storage_bytes)));
  for (const model::Count& count : r.extended) {
    to.entry(field, count.name, quantity(std::to_string(count.amount)));
  }
}

void write_amounts(ProtoWriter& status, uint32_t field, const model::Resources& r) {
  write_requests(status, field, r);
  status.entry(field, "pods", quantity(std::to_string(r.pods)));
}

ProtoWriter condition(std::string_view type, std::string_view status) {
  return std::move(ProtoWriter().text(1, type).text(2, status));
}

ProtoWriter status_of(const demand::NodeImage& image) {
  ProtoWriter status;
  write_amounts(status, 1, image.resources);
  write_amounts(status, 2, image.resources);
  status.message(4, condition("Ready", "True"));
  for (const char* pressure : {"MemoryPressure", "DiskPressure", "PIDPressure"}) {
    status.message(4, condition(pressure, "False"));
  }
  status.message(7, ProtoWriter().text(9, "linux").text(10, image.arch));
  return status;
}

// One entry of a map<string, Quantity>.
bool read_amount(std::string_view bytes, Amounts& amounts) {
  std::string_view name;
  std::string_view value;
  if (!read_entry(bytes, name, value)) return false;
  std::string_view text;
  ProtoReader reader(value);
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) text = field.bytes;
  }
  const auto step = name == "cpu" ? QuantityStep::milli : QuantityStep::whole;
  const auto amount = parse_quantity(text, step, Rounding::up);
  if (reader.is_broken() || !amount || *amount < 0) return false;
  amounts[std::string(name)] = std::min(*amount, model::k_max_amount);
  return true;
}

struct Container {
  Amounts requests;
  bool is_sidecar = false;
};

bool read_container(std::string_view bytes, Container& container) {
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) {
    if (field.number == 24) container.is_sidecar = field.bytes == "Always";
    if (field.number != 8) continue;
    ProtoReader resources(field.bytes);
    for (ProtoField entry; resources.next(entry);) {
      if (entry.number == 2 && !read_amount(entry.bytes, container.requests)) return false;
    }
    if (resources.is_broken()) return false;
  }
  return !reader.is_broken();
}

void add_amounts(Amounts& sum, const Amounts& part) {
  for (const auto& [name, amount] : part) {
    sum[name] = std::min(sum[name] + amount, model::k_max_amount);
  }
}

void raise_amounts(Amounts& to, const Amounts& other) {
  for (const auto& [name, amount] : other) to[name] = std::max(to[name], amount);
}

// All containers together, or an init container at its turn with the sidecars before it; and the
// overhead.
bool read_spec(std::string_view bytes, Amounts& total) {
  std::vector<Container> init;
  Amounts main;
  Amounts overhead;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) {
    Container container;
    if (field.number == 2 || field.number == 20) {
      if (!read_container(field.bytes, container)) return false;
      if (field.number == 2) add_amounts(main, container.requests);
      if (field.number == 20) init.push_back(std::move(container));
    }
    if (field.number == 32 && !read_amount(field.bytes, overhead)) return false;
  }
  Amounts sidecars;
  Amounts turn;
  for (const Container& container : init) {
    Amounts at_its_turn = sidecars;
    add_amounts(at_its_turn, container.requests);
    raise_amounts(turn, at_its_turn);
    if (container.is_sidecar) add_amounts(sidecars, container.requests);
  }
  add_amounts(main, sidecars);
  raise_amounts(main, turn);
  add_amounts(main, overhead);
  total = std::move(main);
  return !reader.is_broken();
}

bool read_metadata(std::string_view bytes, PodAsk& pod) {
  std::map<std::string, std::string> labels;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) pod.name = field.bytes;
    if (field.number == 3) pod.space = field.bytes;
    if (field.number == 5) pod.uid = field.bytes;
    if (field.number != 11) continue;
    std::string_view key;
    std::string_view value;
    if (!read_entry(field.bytes, key, value)) return false;
    labels[std::string(key)] = value;
  }
  for (auto& [key, value] : labels) pod.labels.push_back({key, std::move(value)});
  return !reader.is_broken();
}

model::Resources resources_of(const Amounts& amounts) {
  model::Resources all;
  all.pods = 1;
  for (const auto& [name, amount] : amounts) {
    if (name == "cpu") all.cpu_millis = amount;
    if (name == "memory") all.memory_bytes = amount;
    if (name == "ephemeral-storage") all.storage_bytes = amount;
    if (name.find('/') != std::string::npos && amount > 0) all.extended.push_back({name, amount});
  }
  return all;
}

}  // namespace

std::string marshal_node(const demand::NodeImage& image) {
  ProtoWriter metadata;
  metadata.text(1, image.name);
  for (const model::Label& label : image.labels) metadata.entry(11, label.key, label.value);
  ProtoWriter spec;
  spec.text(3, image.provider_id);
  for (const model::Taint& taint : image.taints) {
    spec.message(5, ProtoWriter()
                        .text(1, taint.key)
                        .text(2, taint.value)
                        .text(3, model::word_of(taint.effect)));
  }
  return ProtoWriter().message(1, metadata).message(2, spec).message(3, status_of(image)).take();
}

std::string marshal_pod(const PodAsk& pod) {
  ProtoWriter metadata;
  metadata.text(1, pod.name).text(3, pod.space).text(5, pod.uid);
  for (const model::Label& label : pod.labels) metadata.entry(11, label.key, label.value);
  ProtoWriter requests;
  write_requests(requests, 2, pod.requests);
  const ProtoWriter container = std::move(ProtoWriter().text(1, "work").message(8, requests));
  return ProtoWriter().message(1, metadata).message(2, ProtoWriter().message(2, container)).take();
}

Result<PodAsk> unmarshal_pod(std::string_view bytes) {
  PodAsk pod;
  Amounts amounts;
  bool is_whole = true;
  bool has_metadata = false;
  bool has_spec = false;
  ProtoReader reader(bytes);
  for (ProtoField field; is_whole && reader.next(field);) {
    // Once each: what a second one would mean, readers do not agree on.
    if (field.number == 1) {
      is_whole = !std::exchange(has_metadata, true) && read_metadata(field.bytes, pod);
    }
    if (field.number == 2) {
      is_whole = !std::exchange(has_spec, true) && read_spec(field.bytes, amounts);
    }
  }
  if (!is_whole || reader.is_broken()) {
    return fail(Code::invalid, "pod", "these bytes are no core/v1 Pod",
                "send it as Marshal makes it");
  }
  pod.requests = resources_of(amounts);
  return pod;
}

}  // namespace spillway::cluster_autoscaler
