#include "embedded/faults.h"

namespace spillway::embedded {

std::optional<Fault> Faults::next(const Ask& ask) {
  for (Rule& rule : rules_) {
    if (!applies(rule, ask)) continue;
    ++injected_;
    return rule.fault;
  }
  return std::nullopt;
}

bool Faults::applies(Rule& rule, const Ask& ask) {
  const Fault& fault = rule.fault;
  if (!fault.verb.empty() && fault.verb != ask.verb) return false;
  if (!fault.resource.empty() && (ask.kind == nullptr || fault.resource != ask.resource())) {
    return false;
  }
  if (fault.times > 0 && rule.done >= fault.times) return false;
  const int64_t turn = rule.seen++ - fault.skip;
  if (turn < 0 || (turn + 1) % fault.every != 0) return false;
  if (fault.per_mille < 1000 && host::below(random_, 1000) >= fault.per_mille) return false;
  ++rule.done;
  return true;
}

Refusal refusal_of(const Fault& fault, const Ask& ask) {
  static const Kind k_nothing{
      .group = "", .version = "v1", .plural = "requests", .name = "Request"};
  const Kind& kind = ask.kind != nullptr ? *ask.kind : k_nothing;
  Refused refused = internal_error("Internal error occurred: injected fault");
  switch (fault.code) {
    case 409:
      refused = stale(kind, ask.name);
      break;
    case 410:
      refused = expired("The resourceVersion for the provided list is too old.");
      break;
    case 429:
      refused = too_many_requests("Too many requests, please try again later.",
                                  fault.retry_after_seconds);
      break;
    case 503:
      refused = Refused(Refusal{503, "ServiceUnavailable",
                                "the server is currently unable to handle the request"});
      break;
    case 504:
      refused = Refused(Refusal{504, "Timeout",
                                "Timeout: request did not complete within the "
                                "allotted timeout"});
      break;
    default:
      refused.value().code = fault.code;
  }
  refused.value().retry_after_seconds = fault.retry_after_seconds;
  return refused.value();
}

}  // namespace spillway::embedded
