#include "fabric/liqo/guard_review.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "fabric/cel/evaluate.h"
#include "fabric/liqo/guard.h"
#include "fabric/liqo/shape.h"
#include "fabric/record.h"

namespace spillway::fabric::liqo {
namespace {

using cel::Value;
using model::Node;
using model::text_at;

constexpr std::string_view k_review_version = "admission.k8s.io/v1";
// As Kubernetes answers for its own policies: 422. Liqo's replicator takes 403 for good.
constexpr int64_t k_refused = 422;
constexpr int64_t k_not_now = 503;

cel::Expression expression_of(std::string_view text) {
  auto read = cel::parse(text);
  SPILLWAY_CHECK(read.has_value(), "an expression of the guard cannot be read");
  return std::move(*read);
}

bool is_about(const GuardPolicy& policy, const Node& request) {
  const std::string_view operation = text_at(request, {"operation"});
  if (operation != "CREATE" && operation != "UPDATE") return false;
  const std::string_view group = text_at(request, {"resource", "group"});
  const std::string_view part = text_at(request, {"subResource"});
  std::string resource(text_at(request, {"resource", "resource"}));
  if (!part.empty()) resource = fmt::format("{}/{}", resource, part);
  return std::any_of(policy.kinds.begin(), policy.kinds.end(), [&](const GuardedKind& kind) {
    return kind.group == group && std::find(kind.resources.begin(), kind.resources.end(),
                                            resource) != kind.resources.end();
  });
}

// What the selector of a policy with a record selects: either state of the object is enough.
bool is_no_original(const Node& request, std::string_view state) {
  const Node* object = model::look(request, {state});
  return object != nullptr &&
         text_at(*object, {"metadata", "labels", k_replication_label}) != "true";
}

bool may_be_selected(const GuardPolicy& policy, const Node& request) {
  if (!is_about(policy, request)) return false;
  return !policy.with_record || is_no_original(request, "object") ||
         is_no_original(request, "oldObject");
}

bool has_peer(const Node& space) {
  return model::look(space, {"metadata", "labels", k_peer_label}) != nullptr;
}

Refusal refusal_by(const GuardPolicy& policy, std::string message) {
  return {std::string(policy.name), std::move(message)};
}

std::string cannot_tell(std::string_view what, const Value& value) {
  const auto* failure = value.failure();
  return fmt::format("{} (it cannot be told: {})", what,
                     failure ? failure->why : "it is neither true nor false");
}

Node answer(std::string_view uid, Node response) {
  model::put(response, "uid", model::text_node(uid));
  return object_of({{"apiVersion", model::text_node(k_review_version)},
                    {"kind", model::text_node("AdmissionReview")},
                    {"response", std::move(response)}});
}

Node denial(std::string_view uid, int64_t code, std::string_view reason, std::string_view message) {
  return answer(uid, object_of({{"allowed", model::boolean_node(false)},
                                {"status", object_of({{"status", model::text_node("Failure")},
                                                      {"code", model::integer_node(code)},
                                                      {"reason", model::text_node(reason)},
                                                      {"message", model::text_node(message)}})}}));
}

}  // namespace

// One policy on one request. A variable is worked out when it is first asked for, and sees those
// before it.
class Guard::Reading final : public cel::Scope {
 public:
  Reading(const Policy& policy, const Node& request, const ReviewFacts& facts, cel::Budget& budget)
      : policy_(policy),
        request_(request),
        facts_(facts),
        budget_(budget),
        known_(policy.variables.size()),
        visible_(policy.variables.size()) {}

  std::optional<Value> name(std::string_view name) override {
    if (name == "request") return cel::value_of(request_);
    if (name == "object" || name == "oldObject") return value_at(model::look(request_, {name}));
    if (name == "namespaceObject") return value_at(facts_.space);
    if (name == "params" && policy_.written.with_record) return value_at(facts_.record);
    return std::nullopt;
  }

  std::optional<Value> variable(std::string_view name) override {
    const auto& all = policy_.variables;
    for (size_t i = 0; i < std::min(all.size(), visible_); ++i) {
      if (all[i].name != name) continue;
      if (!known_[i]) {
        const size_t before = std::exchange(visible_, i);
        known_[i] = of(all[i].expression);
        visible_ = before;
      }
      return known_[i];
    }
    return std::nullopt;
  }

  Value of(const cel::Expression& expression) { return evaluate(expression, *this, budget_); }

 private:
  static Value value_at(const Node* node) { return node ? cel::value_of(*node) : Value{}; }

  const Policy& policy_;
  const Node& request_;
  const ReviewFacts& facts_;
  cel::Budget& budget_;
  std::vector<std::optional<Value>> known_;
  size_t visible_;
};

std::string_view Review::uid() const { return text_at(request, {"uid"}); }
std::string_view Review::space() const { return text_at(request, {"namespace"}); }

Result<Review> read_review(Node document) {
  const auto refuse = [](std::string reason) {
    return fail(Code::invalid, "review", std::move(reason),
                "let an API server send AdmissionReviews of admission.k8s.io/v1");
  };
  if (text_at(document, {"apiVersion"}) != k_review_version ||
      text_at(document, {"kind"}) != "AdmissionReview") {
    return refuse("it is no AdmissionReview of " + std::string(k_review_version));
  }
  for (Node& member : document.items) {
    if (member.key != "request") continue;
    Review review{std::move(member)};
    if (review.uid().empty()) return refuse("request.uid is missing");
    return review;
  }
  return refuse("request is missing");
}

Guard::Guard() {
  for (GuardPolicy& one : guard_policies()) {
    Policy policy{std::move(one), {}, {}, {}};
    for (const GuardCondition& when : conditions_of(policy.written)) {
      policy.conditions.push_back(expression_of(when.holds));
    }
    for (const GuardVariable& variable : policy.written.variables) {
      policy.variables.push_back({variable.name, expression_of(variable.expression)});
    }
    for (const GuardRule& rule : policy.written.rules) {
      policy.rules.push_back({rule.message, expression_of(guarded_rule(policy.written, rule))});
    }
    policies_.push_back(std::move(policy));
  }
}

ReviewNeeds Guard::needs(const Review& review) const {
  ReviewNeeds needs;
  for (const Policy& policy : policies_) {
    if (!may_be_selected(policy.written, review.request)) continue;
    needs.space = !review.space().empty();
    needs.record = needs.record || (needs.space && policy.written.with_record);
  }
  return needs;
}

std::optional<Refusal> Guard::judge(const Review& review, const ReviewFacts& facts) const {
  cel::Budget budget(k_most_steps);
  for (const Policy& policy : policies_) {
    const GuardPolicy& written = policy.written;
    if (!may_be_selected(written, review.request)) continue;
    const bool is_for_guests = written.guarded == Guarded::in_guest_spaces;
    // Without a namespace to look at a selector of namespaces lets everything in.
    if (is_for_guests && facts.space != nullptr && !has_peer(*facts.space)) continue;
    // An API server looks for the parameter before it asks who it is.
    if (written.with_record && facts.record == nullptr) {
      return refusal_by(written, fmt::format("{} (there is no record {} in the namespace)",
                                             policy.rules.front().message, k_record_name));
    }
    Reading reading(policy, review.request, facts, budget);
    bool is_asked = true;
    for (const cel::Expression& condition : policy.conditions) {
      const Value met = reading.of(condition);
      const auto* truth = met.as<bool>();
      if (truth == nullptr) return refusal_by(written, cannot_tell("who asks", met));
      is_asked = is_asked && *truth;
    }
    if (!is_asked) continue;
    for (const Rule& rule : policy.rules) {
      const Value holds = reading.of(rule.holds);
      const auto* truth = holds.as<bool>();
      if (truth == nullptr) return refusal_by(written, cannot_tell(rule.message, holds));
      if (!*truth) return refusal_by(written, std::string(rule.message));
    }
  }
  return std::nullopt;
}

Node review_answer(std::string_view uid, const std::optional<Refusal>& refusal) {
  if (!refusal) return answer(uid, object_of({{"allowed", model::boolean_node(true)}}));
  return denial(uid, k_refused, "Invalid",
                fmt::format("{}: {}", refusal->policy, refusal->message));
}

Node review_failure(std::string_view uid) {
  return denial(uid, k_not_now, "ServiceUnavailable",
                "the guard cannot judge it now: what it goes by cannot be looked up; the agent's "
                "log says why");
}

}  // namespace spillway::fabric::liqo
