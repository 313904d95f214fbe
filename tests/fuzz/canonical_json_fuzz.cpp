// Hostile JSON: what has a canonical text has one only, and it says the same.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"
#include "model/canonical.h"
#include "model/json.h"
#include "model/tree.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace spillway;
  using namespace spillway::model;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<std::string> canonical = canonical_json(text);
  if (!canonical) {
    SPILLWAY_CHECK(canonical.error().code == Code::invalid, "bad input is the sender's fault");
    SPILLWAY_CHECK(is_printable(canonical.error().message()), "an error repeats the input");
    SPILLWAY_CHECK(!parse_canonical_json(text), "what has no canonical text is none");
    return 0;
  }
  const Result<Node> again = parse_canonical_json(*canonical);
  SPILLWAY_CHECK(again.has_value(), "what was written does not read");
  SPILLWAY_CHECK(same(*again, *parse_json(text)), "what was written reads as something else");
  SPILLWAY_CHECK(*canonical_json(*again) == *canonical, "writing is not canonical");
  SPILLWAY_CHECK(parse_canonical_json(text).has_value() == (*canonical == text), "two spellings");
  return 0;
}
