// Server-side apply, and who owns which field (metadata.managedFields): every writer does, appliers
// by what they say, others by what they change.
#pragma once

#include <string>

#include "base/time.h"
#include "embedded/refusal.h"
#include "model/node.h"

namespace spillway::embedded {

struct Writer {
  std::string name;         // of the field manager
  std::string subresource;  // "status", or empty
  std::string api_version;
  Instant now;
};

// What `live` (null: nothing yet) becomes when `wanted` is applied: fields that the writer applied
// before and no longer names go, unless others own them. Fields of others with another value are a
// conflict, or are taken over by force.
Answer<model::Node> apply(const Kind& kind, const model::Node* live, const model::Node& wanted,
                          const Writer& writer, bool is_forced);

// Notes in `after` whose the fields are that differ from `before` (null: it is new).
void track_update(const Kind& kind, const model::Node* before, model::Node& after,
                  const Writer& writer);

}  // namespace spillway::embedded
