// Field sets: which fields of a document somebody owns, in the form in which managedFields has them
// (FieldsV1): "f:name" is a member, "k:{…}" an item by its keys, "v:…" an item by its value, "."
// the thing itself; an empty object is a leaf.
//
// Which lists are taken apart and which are owned as a whole follows the API's types by the lists'
// names; in custom resources all lists are whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "embedded/kind.h"
#include "model/node.h"

namespace spillway::embedded {

using FieldSet = model::Node;
using Steps = std::vector<std::string>;  // with their prefixes

// All that a document says, but for its identity and what the server writes into metadata.
FieldSet fields_of(const Kind& kind, const model::Node& document);

// Those leaves for which `keeps` holds.
FieldSet filter_fields(const FieldSet& set, const std::function<bool(const Steps&)>& keeps);
FieldSet intersection(const FieldSet& a, const FieldSet& b);
void unite(FieldSet& set, const FieldSet& more);
FieldSet difference(const FieldSet& set, const FieldSet& less);
std::vector<Steps> leaves_of(const FieldSet& set);

// Null: the document has nothing there.
const model::Node* value_at(const model::Node& document, const Steps& steps);
// Takes it out, and the containers that are empty then.
void remove_at(model::Node& document, const Steps& steps);
// Both say the same there, or nothing.
bool agree_at(const model::Node& a, const model::Node& b, const Steps& steps);

// Puts what `wanted` says into `document`: members into objects, items into lists by their keys.
void merge_fields(const Kind& kind, model::Node& document, const model::Node& wanted);

std::string path_text(const Steps& steps);  // .spec.containers[name="c"].image

}  // namespace spillway::embedded
