#include "cluster_autoscaler/messages.h"

#include <algorithm>
#include <map>

namespace spillway::cluster_autoscaler {
namespace {

// instanceState
constexpr int64_t k_running = 1;
constexpr int64_t k_creating = 2;
constexpr int64_t k_deleting = 3;
// instanceErrorClass: no capacity, or anything else
constexpr int64_t k_out_of_resources = 1;
constexpr int64_t k_other_error = 99;

// meta/v1 Time and Timestamp have the same fields.
std::optional<Instant> read_time(std::string_view bytes) {
  int64_t seconds_of = 0;
  int64_t nanos = 0;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) seconds_of = field.integer();
    if (field.number == 2) nanos = field.integer();
  }
  constexpr int64_t k_most = 253'402'300'799;  // the year 9999
  if (reader.is_broken() || seconds_of < 0 || seconds_of > k_most || nanos < 0 ||
      nanos > 999'999'999) {
    return std::nullopt;
  }
  return Instant{seconds_of * 1000 + nanos / 1'000'000};
}

bool read_label(std::string_view bytes, std::map<std::string, std::string>& labels) {
  std::string_view key;
  std::string_view value;
  if (!read_entry(bytes, key, value)) return false;
  labels[std::string(key)] = value;
  return true;
}

bool read_node(std::string_view bytes, WireNode& node) {
  std::map<std::string, std::string> labels;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) {
    if (field.number == 1) node.ref.provider_id = field.bytes;
    if (field.number == 2) node.ref.name = field.bytes;
    if (field.number == 3 && !read_label(field.bytes, labels)) return false;
  }
  for (auto& [key, value] : labels) node.labels.push_back({key, std::move(value)});
  return !reader.is_broken();
}

bool read_field(const ProtoField& field, const AskedFields& fields, Asked& asked) {
  const uint32_t number = field.number;
  if (number == fields.group) asked.group = field.bytes;
  if (number == fields.delta) asked.delta = field.integer32();
  if (number == fields.pod_old || number == fields.pod) asked.pod = field.bytes;
  if (number == fields.node && !read_node(field.bytes, asked.nodes.emplace_back())) return false;
  if (number == fields.from_old || number == fields.from) {
    const auto time = read_time(field.bytes);
    if (!time) return false;
    asked.window.from = *time;
  }
  if (number == fields.to_old || number == fields.to) {
    const auto time = read_time(field.bytes);
    if (!time) return false;
    asked.window.to = *time;
  }
  return true;
}

}  // namespace

std::optional<Asked> read_asked(std::string_view bytes, const AskedFields& fields) {
  Asked asked;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) {
    if (!read_field(field, fields, asked)) return std::nullopt;
  }
  if (reader.is_broken()) return std::nullopt;
  return asked;
}

// The last text is for people who look at the wire: the Cluster Autoscaler never shows it.
ProtoWriter group_message(const OfferId& id, const demand::GroupState& group) {
  const std::string_view end = group.is_on_sale ? "" : ", no longer on sale";
  return std::move(ProtoWriter()
                       .text(1, id.text)
                       .integer(3, group.most())
                       .text(4, to_text(group.offer.shape).append(end)));
}

bool GroupMessages::is_of(const Entry& entry, const OfferId& id, const demand::GroupState& group) {
  return entry.id == id && entry.most == group.most() && entry.is_on_sale == group.is_on_sale &&
         entry.shape == group.offer.shape;
}

const std::string& GroupMessages::all(const demand::LedgerState& state) {
  bool is_changed = entries_.size() != state.groups.size();
  entries_.resize(state.groups.size());
  auto entry = entries_.begin();
  for (const auto& [id, group] : state.groups) {
    if (!is_of(*entry, id, group)) {
      is_changed = true;
      *entry = {id, group.offer.shape, group.most(), group.is_on_sale,
                ProtoWriter().message(1, group_message(id, group)).take()};
    }
    ++entry;
  }
  if (!is_changed) return all_;
  all_.clear();
  for (const Entry& one : entries_) all_ += one.message;
  return all_;
}

// The caller reacts to an error only in state creating, and drops it without a state.
ProtoWriter instance_message(const demand::Instance& instance) {
  ProtoWriter status;
  switch (instance.state) {
    case demand::UnitState::running:
      status.integer(1, k_running);
      break;
    case demand::UnitState::deleting:
      status.integer(1, k_deleting);
      break;
    case demand::UnitState::creating:
    case demand::UnitState::failed:
    case demand::UnitState::spare:  // never: no instance of any group
      status.integer(1, k_creating);
      break;
  }
  if (instance.failure && instance.state == demand::UnitState::failed) {
    status.message(
        2, ProtoWriter()
               .text(1, instance.failure->code)
               .text(2, instance.failure->message)
               .integer(3, instance.failure->is_capacity ? k_out_of_resources : k_other_error));
  }
  return std::move(ProtoWriter().text(1, instance.provider_id).message(2, status));
}

}  // namespace spillway::cluster_autoscaler
