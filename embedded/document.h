// Looking at and changing Kubernetes documents: metadata, conditions, times. See model/tree.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "embedded/object.h"
#include "host/random.h"
#include "model/tree.h"

namespace spillway::embedded {

// Ten years: longer than anybody waits, and short enough to be added to any time.
inline constexpr int64_t k_longest_seconds = 10LL * 365 * 24 * 3600;
Duration bounded_seconds(int64_t count);  // 0 to k_longest_seconds

std::string stamp(Instant t);        // metav1.Time: whole seconds
std::string micro_stamp(Instant t);  // metav1.MicroTime
std::optional<Instant> parse_stamp(std::string_view text);

// Random as Kubernetes writes it.
std::string new_uid(host::Random& random);
std::string new_suffix(host::Random& random, size_t letters = 5);

Key key_of(const model::Node& document);
std::string_view name_of(const model::Node& document);
std::string_view annotation_of(const model::Node& document, std::string_view name);
bool is_being_deleted(const model::Node& document);
bool has_finalizer(const model::Node& document, std::string_view name);
void add_finalizer(model::Node& document, std::string_view name);
void drop_finalizer(model::Node& document, std::string_view name);

struct Condition {
  std::string_view type;
  std::string_view status;  // "True", "False", "Unknown"
  std::string_view reason = {};
  std::string_view message = {};
};
const model::Node* find_condition(const model::Node& document, std::string_view type);
bool has_condition(const model::Node& document, std::string_view type, std::string_view status);
// lastTransitionTime moves only with the status. False: all of it was so already.
bool set_condition(model::Node& document, const Condition& wanted, Instant now);

// The reference with controller: true, or null.
const model::Node* controller_of(const model::Node& document);
model::Node owner_reference(const Object& owner);

// A member as text, whatever scalar it is: "80", "true", "50%".
std::string scalar_text(const model::Node* node);

}  // namespace spillway::embedded
