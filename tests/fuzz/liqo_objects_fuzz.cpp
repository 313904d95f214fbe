// Hostile objects of Liqo: each reader takes them or says why not, and what it takes comes back the
// same from what would be written.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "fabric/fence.h"
#include "fabric/liqo/cluster_objects.h"
#include "fabric/liqo/foreign_cluster.h"
#include "fabric/liqo/guests.h"
#include "fabric/liqo/handshake.h"
#include "fabric/liqo/namespaces.h"
#include "fabric/liqo/network_objects.h"
#include "fabric/liqo/slice.h"
#include "fabric/liqo/virtual_node.h"
#include "fabric/liqo/vk_options.h"
#include "fabric/mending.h"
#include "fabric/record.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric::liqo {
namespace {

template <class T>
void check_refusal(const Result<T>& read) {
  if (!read) SPILLWAY_CHECK(is_printable(read.error().message()), "an error repeats the input");
}

template <class T>
void check(Result<T> (*read)(const model::Node&), const model::Node& object) {
  const Result<T> first = read(object);
  check_refusal(first);
  if (!first) return;
  const Result<T> again = read(to_object(*first));
  SPILLWAY_CHECK(again.has_value() && *again == *first, "what was written reads as another thing");
}

// What has to be ended is seen, whatever it has: all of it, or with the reason why not.
template <class T>
void check_seen(T (*see)(const model::Node&, std::span<const std::string_view>),
                Result<T> (*read)(const model::Node&), const model::Node& object) {
  static constexpr std::string_view k_word = "liqo.io/replicated";
  const T seen = see(object, {&k_word, 1});
  const Result<T> whole = read(object);
  SPILLWAY_CHECK(seen.unreadable.empty() == whole.has_value(), "seen otherwise than read");
  if (whole) SPILLWAY_CHECK(seen == *whole, "what can be read is seen otherwise");
  SPILLWAY_CHECK(is_printable(seen.unreadable), "a reason repeats the input");
  const auto label = model::text_at(object, {"metadata", "labels", k_word});
  if (!whole && label == "true") SPILLWAY_CHECK(seen.meta.label(k_word) == label, "a word is lost");
}

// A patch must make of the object what was decided, whatever the object had.
void check_patches(const model::Node& object) {
  const Result<Slice> slice = read_slice(object);
  if (!slice) return;
  (void)check_replica(*slice, "buyer", "seller");
  Grant grant;
  grant.amounts = {{"cpu", 1500}, {"pods", 0}};
  grant.storage = {{"fast", true}};
  model::Node patched = object;
  model::merge(patched, grant_patch(*slice, grant, Instant{1'800'000'000'000}));
  const Result<Slice> granted = read_slice(patched);
  SPILLWAY_CHECK(granted.has_value() && granted->grant == grant, "a grant of something else");
  SPILLWAY_CHECK(granted->is_accepted(k_resources_condition), "a grant that is none");
}

// What is put right is right, whatever somebody has made of it.
template <class T>
void check_mended(void (*mend)(const T&, const T&, Plan&), Result<T> (*read)(const model::Node&),
                  T wanted, model::Node object) {
  const Result<T> seen = read(object);
  if (!seen) return;
  wanted.meta.name = seen->meta.name;
  wanted.meta.space = seen->meta.space;
  Plan plan;
  mend(wanted, *seen, plan);
  if (plan.deeds.empty()) return;
  for (const Trouble& one : plan.troubles) {
    SPILLWAY_CHECK(is_printable(one.reason), "a trouble repeats the input");
  }
  model::merge(object, std::get<Merge>(plan.deeds.front()).patch);
  const Result<T> again = read(object);
  SPILLWAY_CHECK(again.has_value(), "what was put right cannot be read");
  Plan next;
  mend(wanted, *again, next);
  SPILLWAY_CHECK(next.deeds.empty(), "what was put right is not right");
}

void check_mending(const model::Node& object) {
  check_mended(&mend_slice, &read_slice,
               new_slice({"unit", "rome", "milan", "request", {{"cpu", 2000}, {"pods", 7}}}, true),
               object);
  check_mended(&mend_virtual_node, &read_virtual_node,
               new_virtual_node({"unit",
                                 "milan",
                                 {},
                                 {{"disk", "ssd"}},
                                 {{"note", "ours"}},
                                 {{"spot", "true", model::TaintEffect::no_schedule}}}),
               object);
}

// Whatever ours are made from: nothing leaves unlisted by them.
void check_options(const model::Node& object) {
  (void)reflection_of_node(object);
  using By = Reflection::By;
  const Reflection listed{By::allow_list, By::allow_list, By::allow_list, By::allow_list, false};
  const model::Node made = options_template(object, "space", Leaving::listed);
  SPILLWAY_CHECK(reflection_of_template(made) == listed, "a template that lets more leave");
}

void check_object(const model::Node& object) {
  check(read_nonce, object);
  check(read_signed_nonce, object);
  check(read_tenant, object);
  check(read_identity, object);
  check(read_slice, object);
  check(read_virtual_node, object);
  check_seen(see_slice, read_slice, object);
  check_seen(see_virtual_node, read_virtual_node, object);
  check(read_quota, object);
  check(read_shadow_pod, object);
  check(read_namespace_offloading, object);
  check(read_namespace_map, object);
  check(read_foreign_cluster, object);
  check(read_unit_node, object);
  check(read_space, object);
  check(read_configuration, object);
  check(read_gateway_server, object);
  check(read_gateway_client, object);
  check(read_public_key, object);
  check(read_connection, object);
  check(read_network, object);
  check(read_address, object);
  check_refusal(read_gateway_keys(object));
  check_refusal(read_cluster_keys(object));
  check_refusal(private_key_in(object));
  check_refusal(read_remnant(object, k_secrets));
  check_refusal(read_remnant(object, k_renews));
  check_refusal(read_buyer_lease(object));
  check_refusal(read_record(object));
  check_patches(object);
  check_mending(object);
  check_options(object);
}

}  // namespace
}  // namespace spillway::fabric::liqo

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto object =
      spillway::model::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (object) spillway::fabric::liqo::check_object(*object);
  return 0;
}
