// Hostile expressions, and hostile objects under expressions: what is read is evaluated within its
// budget, and what is said of it can be shown.
//
// The input: an expression, a line feed, a JSON document that is called `object`. Without a line
// feed it is a review, for the guard's own expressions.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"
#include "fabric/cel/evaluate.h"
#include "fabric/liqo/guard_review.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

class OneObject final : public cel::Scope {
 public:
  explicit OneObject(const model::Node& object) : object_(object) {}
  std::optional<cel::Value> name(std::string_view name) override {
    return name == "object" ? std::optional(cel::value_of(object_)) : std::nullopt;
  }
  std::optional<cel::Value> variable(std::string_view) override { return std::nullopt; }

 private:
  const model::Node& object_;
};

void check_expression(std::string_view text, std::string_view json) {
  const auto expression = cel::parse(text);
  if (!expression) {
    SPILLWAY_CHECK(is_printable(expression.error().message()), "an error repeats the input");
    return;
  }
  const auto object = model::parse_json(json, "object");
  if (!object) return;
  OneObject scope(*object);
  cel::Budget budget(10'000);
  const cel::Value value = evaluate(*expression, scope, budget);
  if (value.failure()) {
    SPILLWAY_CHECK(is_printable(value.failure()->why), "a failure repeats the input");
    return;
  }
  cel::Budget more(100'000);
  const cel::Value same = equal(value, value, more);
  // What is no number is not even equal to itself.
  SPILLWAY_CHECK(same.failure() || same.as<bool>() != nullptr, "equality that is none");
}

void check_review(std::string_view json) {
  static const liqo::Guard guard;
  auto document = model::parse_json(json, "review");
  if (!document) return;
  const auto review = liqo::read_review(std::move(*document));
  if (!review) return;
  const model::Node* space = model::look(review->request, {"spaceForFuzzing"});
  const model::Node* record = model::look(review->request, {"recordForFuzzing"});
  const auto refusal = guard.judge(*review, {space, record});
  if (refusal) SPILLWAY_CHECK(is_printable(refusal->message), "a refusal repeats the input");
}

}  // namespace
}  // namespace spillway::fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = input.find('\n');
  if (line == std::string_view::npos) {
    spillway::fabric::check_review(input);
  } else {
    spillway::fabric::check_expression(input.substr(0, line), input.substr(line + 1));
  }
  return 0;
}
