// Objects: the rules by which objects come, change and go, whoever asks for it: the API for its
// callers, and the cluster's own controllers. What is asked in vain changes nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "embedded/clock.h"
#include "embedded/refusal.h"
#include "embedded/registry.h"
#include "embedded/table.h"
#include "host/random.h"

namespace spillway::embedded {

// Which part of an object an update may change. With `status` the rest stays as it was, and with
// `main` the status does, where a kind has one of its own. `whole` is for us.
enum class Part { main, status, whole };

struct DeleteOptions {
  std::optional<int64_t> grace_seconds = {};
  std::string uid = {};          // preconditions; empty: none
  std::string version = {};      // likewise
  std::string propagation = {};  // "Background" (also when empty), "Foreground", "Orphan"
  bool is_dry_run = false;
};

struct Deleted {
  ObjectPtr object;
  bool is_gone = false;  // else it is being deleted, and waits for grace or finalizers
};

class Objects {
 public:
  Objects(Registry& kinds, Table& all, Clock& time, host::Random& lots)
      : registry(kinds), table(all), clock(time), random(lots) {}
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  // A name is made from generateName when there is none. The namespace is the document's.
  Answer<ObjectPtr> create(const Kind& kind, model::Node document, bool is_dry_run = false);
  // `wanted` may name the version and uid that it was made from; others are a conflict.
  Answer<ObjectPtr> replace(const Kind& kind, const Key& key, model::Node wanted,
                            Part part = Part::main, bool is_dry_run = false);
  Answer<Deleted> remove(const Kind& kind, const Key& key, const DeleteOptions& options = {});

  // For controllers: changes what is there now. Null: it is not there (any more).
  ObjectPtr change(const Kind& kind, const Key& key, const std::function<void(model::Node&)>& how);

  // Whoever makes an object, this changes it first: as mutating webhooks do.
  std::function<void(const Kind& kind, model::Node& document)> on_create;

  Registry& registry;
  Table& table;
  Clock& clock;
  host::Random& random;

 private:
  Answer<ObjectPtr> create_whole(const Kind& kind, model::Node document, bool is_dry_run);
  Done check_space(const Kind& kind, const model::Node& document) const;
  Answer<Deleted> begin_deletion(const Kind& kind, const ObjectPtr& object,
                                 const DeleteOptions& options);
  bool ends_now(const model::Node& document) const;
};

// Gives a pod its node, as the scheduler's binding does.
void bind_pod(Objects& objects, const Key& pod, const std::string& node);

}  // namespace spillway::embedded
