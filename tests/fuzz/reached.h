// What the files of a corpus must reach: of every object that a target reads, one that is read and
// says something. Without it a reader would only ever see other kinds, and refuse them.
//
// A target that includes this defines k_looks; each look checks what it reads, and says whether
// that was whole. run_corpus.cpp asks at its end for one that never was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "model/json.h"
#include "model/node.h"

namespace spillway::fuzz {

struct Look {
  const char* what;
  bool (*is_whole)(const model::Node& object);
};

// Every look at that object; `reached` has one for each.
template <size_t n>
void look_at(std::string_view json, const Look (&looks)[n], bool (&reached)[n]) {
  const auto object = model::parse_json(json, "fuzz");
  if (!object) return;
  for (size_t i = 0; i < n; ++i) {
    if (looks[i].is_whole(*object)) reached[i] = true;
  }
}

template <size_t n>
const char* unreached(const Look (&looks)[n], const bool (&reached)[n]) {
  for (size_t i = 0; i < n; ++i) {
    if (!reached[i]) return looks[i].what;
  }
  return nullptr;
}

}  // namespace spillway::fuzz
