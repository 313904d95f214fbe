// Hostile JSON as every noun: whatever is read is written to something that reads as the same.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "model/cluster.h"
#include "model/contract.h"
#include "model/documents.h"
#include "model/intent.h"
#include "model/offer.h"
#include "model/pool.h"

namespace spillway::model {
namespace {

template <class Read>
void round_trip(Read read, std::string_view text) {
  const auto noun = read(text, "fuzz");
  if (!noun) {
    SPILLWAY_CHECK(noun.error().code == Code::invalid, "bad input is the sender's fault");
    return;
  }
  const std::string written = to_json(*noun);
  const auto again = read(written, "fuzz");
  SPILLWAY_CHECK(again.has_value(), "what was written does not read");
  SPILLWAY_CHECK(*again == *noun, "what was written reads as something else");
  SPILLWAY_CHECK(to_json(*again) == written, "writing is not canonical");
}

}  // namespace
}  // namespace spillway::model

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway::model;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  round_trip(pool_from_json, text);
  round_trip(offer_from_json, text);
  round_trip(cluster_from_json, text);
  round_trip(contract_from_json, text);
  round_trip(intent_from_json, text);
  return 0;
}
