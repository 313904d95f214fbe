// The payload of a document that is signed: canonical JSON, and one text only for each document, so
// that it is known by its hash. Costs as much to include as model/codec.h: .cpp files only.
#pragma once

#include <string>
#include <string_view>

#include "base/check.h"
#include "model/canonical.h"
#include "model/codec.h"

namespace spillway::model {

template <class T>
std::string payload_of(const T& value) {
  auto canonical = canonical_json(write_json(value));
  SPILLWAY_CHECK(canonical.has_value(), "our own document has no canonical form");
  return std::move(*canonical);
}

// A document that is known by its hash has one text: no field that says what its absence says.
template <class T>
Result<T> from_payload(std::string_view payload, std::string_view what) {
  const auto root = parse_canonical_json(payload, what);
  if (!root) return tl::unexpected(root.error());
  auto value = read_node<T>(*root, Heading{.what = what});
  if (value && payload_of(*value) != payload) {
    return fail(Code::invalid, std::string(what), "it spells out what is left out where it is so",
                "write it as this release does");
  }
  return value;
}

}  // namespace spillway::model
