// The guard where an API server has no ValidatingAdmissionPolicies: an AdmissionReview held against
// the very policies that guard.h writes, by their own expressions (fabric/cel). A policy is asked
// about the same requests as an API server would ask it, and refuses what it cannot judge.
//
// The namespace and the record are looked up by whoever asks: needs() says which.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/cel/expression.h"
#include "fabric/liqo/guard_rules.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

struct Review {
  model::Node request;  // of an AdmissionReview of admission.k8s.io/v1

  std::string_view uid() const;
  std::string_view space() const;  // empty: the request is about nothing in a namespace
};
// Invalid: it is none.
Result<Review> read_review(model::Node document);

struct ReviewNeeds {
  bool space = false;   // the Namespace of the request
  bool record = false;  // the ConfigMap k_record_name in it
};

struct ReviewFacts {
  const model::Node* space = nullptr;
  const model::Node* record = nullptr;  // null: there is none
};

struct Refusal {
  std::string policy;
  std::string message;  // begins with the rule
};

// All policies, read once.
class Guard {
 public:
  Guard();

  // Neither: no policy is about it.
  ReviewNeeds needs(const Review& review) const;
  // Nothing: it may pass. The first refusal of the first policy that has one.
  std::optional<Refusal> judge(const Review& review, const ReviewFacts& facts) const;

  // How much one review may take: a pod of twenty containers takes a tenth of it.
  static constexpr size_t k_most_steps = 300'000;

 private:
  struct Variable {
    std::string_view name;
    cel::Expression expression;
  };
  struct Rule {
    std::string_view message;
    cel::Expression holds;
  };
  struct Policy {
    GuardPolicy written;
    std::vector<cel::Expression> conditions;
    std::vector<Variable> variables;
    std::vector<Rule> rules;
  };
  class Reading;

  std::vector<Policy> policies_;
};

// The AdmissionReview that answers: allowed when there is nothing to say against it.
model::Node review_answer(std::string_view uid, const std::optional<Refusal>& refusal);
// Not now: something that was needed could not be had. What and why is not for whoever asks.
model::Node review_failure(std::string_view uid);

}  // namespace spillway::fabric::liqo
