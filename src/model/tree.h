// Documents whose fields are not ours, as trees (model/node.h): looking into them, changing them,
// and writing them down again. What is ours has a description instead (model/codec.h).
//
// Nothing here minds what is missing or of another kind: readers of foreign documents ask for what
// they need and take the absence of it as an answer.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "model/node.h"

namespace spillway::model {

using Path = std::initializer_list<std::string_view>;

Node object_node();
Node array_node();
Node text_node(std::string_view text);
Node integer_node(int64_t value);
Node boolean_node(bool value);

// Null when there is nothing, or null, at the end of the path.
const Node* look(const Node& root, Path path);
std::string_view text_at(const Node& root, Path path);                  // else empty
int64_t integer_at(const Node& root, Path path, int64_t fallback = 0);  // else the fallback
bool boolean_at(const Node& root, Path path, bool fallback = false);    // else the fallback
const std::vector<Node>& items_at(const Node& root, Path path);         // else none

// Replaces the member or adds it at the end. `object` becomes an object if it is none.
Node& put(Node& object, std::string_view key, Node value);
// The object at the end of the path, made where it is missing.
Node& ensure(Node& root, Path path);
bool erase(Node& object, std::string_view key);  // false: it was not there

// RFC 7386: members of the patch replace those of the target, null removes them.
void merge(Node& target, const Node& patch);

// Equal but for positions and the order of members.
bool same(const Node& a, const Node& b);

void append_json(std::string& out, const Node& node);
std::string to_json(const Node& node);

}  // namespace spillway::model
