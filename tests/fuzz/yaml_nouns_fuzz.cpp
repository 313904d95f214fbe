// Hostile YAML as every noun: whatever is read is written to JSON that reads as the same, by the
// JSON reader and, since JSON is YAML, by the YAML reader too.
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

template <class FromYaml, class FromJson>
void round_trip(FromYaml from_yaml, FromJson from_json, std::string_view text) {
  const auto noun = from_yaml(text, "fuzz");
  if (!noun) {
    SPILLWAY_CHECK(noun.error().code == Code::invalid, "bad input is the sender's fault");
    return;
  }
  const std::string written = to_json(*noun);
  const auto by_json = from_json(written, "fuzz");
  SPILLWAY_CHECK(by_json.has_value(), "what was written does not read");
  SPILLWAY_CHECK(*by_json == *noun, "what was written reads as something else");
  const auto by_yaml = from_yaml(written, "fuzz");
  SPILLWAY_CHECK(by_yaml.has_value(), "JSON of ours is no YAML");
  SPILLWAY_CHECK(*by_yaml == *noun, "JSON and YAML disagree");
}

}  // namespace
}  // namespace spillway::model

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway::model;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  round_trip(pool_from_yaml, pool_from_json, text);
  round_trip(offer_from_yaml, offer_from_json, text);
  round_trip(cluster_from_yaml, cluster_from_json, text);
  round_trip(contract_from_yaml, contract_from_json, text);
  round_trip(intent_from_yaml, intent_from_json, text);
  return 0;
}
