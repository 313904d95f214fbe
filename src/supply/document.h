// Looking into a Kubernetes object. What is absent and what is of another type than it should be
// are different things: the first has a meaning (a default), the second none.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/labels.h"
#include "model/node.h"

namespace spillway::supply {

// Follows `path` through objects; null when a step of it is absent, null or no object's member.
const model::Node* find(const model::Node& document, std::initializer_list<std::string_view> path);

// The text at `path`; empty when it is absent or no string.
std::string_view text_at(const model::Node& document, std::initializer_list<std::string_view> path);

// The items of a list, or nothing for null and whatever is no list.
const std::vector<model::Node>& items_of(const model::Node* list);

// An object of strings as labels, sorted; nothing for null. Fails on what is no label.
Result<model::Labels> read_labels(const model::Node* object);

// One error for all that cannot be read; `path` names it as `kubectl explain` does.
tl::unexpected<Error> unreadable(std::string_view path, std::string reason);

}  // namespace spillway::supply
