// Shorthand for objects that are written and never read back into a struct.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/tree.h"

namespace spillway::fabric::liqo {

using Member = std::pair<std::string_view, model::Node>;

inline model::Node object_of(std::vector<Member> members) {
  model::Node made = model::object_node();
  for (Member& one : members) model::put(made, one.first, std::move(one.second));
  return made;
}

inline model::Node list_of(std::vector<model::Node> items) {
  model::Node made = model::array_node();
  made.items = std::move(items);
  return made;
}

template <class Texts>
model::Node text_list(const Texts& texts) {
  model::Node made = model::array_node();
  for (const auto& text : texts) made.items.push_back(model::text_node(text));
  return made;
}

}  // namespace spillway::fabric::liqo
