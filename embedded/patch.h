// Patches: the three ways in which a caller may say what shall change (the fourth, server-side
// apply, is in apply.h). All of them turn a document into another or say why they cannot.
#pragma once

#include "embedded/refusal.h"
#include "model/node.h"

namespace spillway::embedded {

// RFC 6902.
Answer<model::Node> json_patch(model::Node document, const model::Node& patch);

// Kubernetes' own: like RFC 7386, but lists of things that have a name are merged by it.
Answer<model::Node> strategic_merge(model::Node document, const model::Node& patch);

// The member by which items of the list called `list` are told apart; empty: by nothing, the list
// is replaced as a whole. `item` decides where several lists have one name.
std::string_view merge_key(std::string_view list, const model::Node& item);

}  // namespace spillway::embedded
