// How objects go: preconditions, grace, finalizers. See rest.BeforeDelete and Store.Delete of
// k8s.io/apiserver, which this follows step by step.
#include <algorithm>

#include <fmt/format.h>

#include "embedded/document.h"
#include "embedded/objects.h"

namespace spillway::embedded {
namespace {

using model::integer_node;
using model::Node;
using model::put;
using model::text_node;

Refused precondition_failed(const Object& present, std::string_view what, std::string_view asked,
                            std::string_view is, std::string_view might) {
  Kind named = *present.kind;
  named.plural = named.name;  // the real one calls it so here
  return conflict(named, present.key.name,
                  fmt::format("the {} in the precondition ({}) does not match the {} in record "
                              "({}). The object might have been {}",
                              what, asked, what, is, might));
}

Done check_preconditions(const Object& present, const DeleteOptions& options) {
  if (!options.uid.empty() && options.uid != present.uid) {
    return precondition_failed(present, "UID", options.uid, present.uid,
                               "deleted and then recreated");
  }
  const std::string version = std::to_string(present.version);
  if (!options.version.empty() && options.version != version) {
    return precondition_failed(present, "ResourceVersion", options.version, version, "modified");
  }
  return {};
}

// Only pods on a node are given time to end.
int64_t grace_of(const Kind& kind, const Node& document, const DeleteOptions& options) {
  if (kind.is_custom || kind.name != "Pod") return 0;
  const std::string_view phase = model::text_at(document, {"status", "phase"});
  if (model::text_at(document, {"spec", "nodeName"}).empty()) return 0;
  if (phase == "Succeeded" || phase == "Failed") return 0;
  const int64_t grace = options.grace_seconds.value_or(
      model::integer_at(document, {"spec", "terminationGracePeriodSeconds"}, 30));
  return grace < 0 ? 1 : std::min(grace, k_longest_seconds);
}

void mark_deleted(Node& document, Instant now, int64_t grace) {
  Node& metadata = model::ensure(document, {"metadata"});
  put(metadata, "deletionTimestamp", text_node(stamp(now + seconds(grace))));
  put(metadata, "deletionGracePeriodSeconds", integer_node(grace));
  const int64_t generation = model::integer_at(metadata, {"generation"});
  if (generation > 0) put(metadata, "generation", integer_node(generation + 1));
}

// A second request may only shorten the time. False: it does not.
bool shorten_grace(Node& document, Instant now, const DeleteOptions& options) {
  Node& metadata = model::ensure(document, {"metadata"});
  const int64_t had = model::integer_at(metadata, {"deletionGracePeriodSeconds"});
  if (had == 0 || !options.grace_seconds || *options.grace_seconds >= had) return false;
  int64_t grace = std::max<int64_t>(*options.grace_seconds, *options.grace_seconds < 0 ? 1 : 0);
  const auto end = parse_stamp(model::text_at(metadata, {"deletionTimestamp"})).value_or(now);
  Instant sooner = end - seconds(had) + seconds(grace);
  if (sooner < now) {
    sooner = now;
    if (grace != 0) grace = 1;
  }
  put(metadata, "deletionTimestamp", text_node(stamp(sooner)));
  put(metadata, "deletionGracePeriodSeconds", integer_node(grace));
  return true;
}

void mark_for_collection(Node& document, const DeleteOptions& options) {
  if (options.propagation == "Foreground") add_finalizer(document, "foregroundDeletion");
  if (options.propagation == "Orphan") add_finalizer(document, "orphan");
}

}  // namespace

bool Objects::ends_now(const Node& document) const {
  const bool waits_for_space = !model::items_at(document, {"spec", "finalizers"}).empty() &&
                               model::text_at(document, {"kind"}) == "Namespace";
  return is_being_deleted(document) &&
         model::integer_at(document, {"metadata", "deletionGracePeriodSeconds"}) == 0 &&
         model::items_at(document, {"metadata", "finalizers"}).empty() && !waits_for_space;
}

Answer<Deleted> Objects::remove(const Kind& kind, const Key& key, const DeleteOptions& options) {
  const ObjectPtr present = table.find(kind, key);
  if (present == nullptr) return not_found(kind, key.name);
  if (auto done = check_preconditions(*present, options); !done) {
    return Refused(std::move(done.error()));
  }
  const bool is_needed =
      key.name == "default" || key.name == "kube-system" || key.name == "kube-public";
  if (kind.name == "Namespace" && is_needed) {
    return forbidden(kind, key.name, "this namespace may not be deleted");
  }
  return begin_deletion(kind, present, options);
}

Answer<Deleted> Objects::begin_deletion(const Kind& kind, const ObjectPtr& present,
                                        const DeleteOptions& options) {
  Node document = present->document();
  if (!is_being_deleted(document)) {
    mark_for_collection(document, options);
    mark_deleted(document, clock.now(), grace_of(kind, document, options));
    if (kind.name == "Namespace") {
      put(model::ensure(document, {"status"}), "phase", text_node("Terminating"));
    }
  } else if (!shorten_grace(document, clock.now(), options) && !ends_now(document)) {
    return Deleted{present, false};
  }
  const bool ends = ends_now(document);
  if (options.is_dry_run) return Deleted{make_object(kind, document, present->version), ends};
  if (ends) return Deleted{table.remove(kind, present->key), true};
  return Deleted{table.write(kind, std::move(document)), false};
}

}  // namespace spillway::embedded
