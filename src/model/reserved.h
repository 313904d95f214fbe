// Keys by which Kubernetes, Liqo, the Cluster Autoscaler and Spillway itself tell each other things
// about a node. What a provider's offer or a caller's order says has none of them: two who write
// and remove the same one would do so for ever, and who takes a word for another's acts on it.
#pragma once

#include <string_view>

namespace spillway::model {

// Not the few by which nodes are told apart, as architecture, region and instance type.
bool is_reserved_label(std::string_view key);
// Those and all others of Kubernetes. An offer may say them, and is bought for what it says.
bool is_label_of_kubernetes(std::string_view key);
// None of these: a provider may put it on a node that it has sold, whatever was bought.
bool is_free_label(std::string_view key);
bool is_reserved_annotation(std::string_view key);
bool is_reserved_taint(std::string_view key);

}  // namespace spillway::model
