#include "sim/scenario.h"

#include "model/codec.h"
#include "model/validation.h"

namespace spillway::sim {

template <class Fields>
void fields(Fields& f, FaultPlan& plan) {
  f.with_default("drop_permille", plan.drop_permille);
  f.with_default("double_permille", plan.double_permille);
  f.with_default("late_permille", plan.late_permille);
  f.with_default("max_delay", plan.max_delay, FaultPlan{}.max_delay);
  f.with_default("broker_crash", plan.broker_crash);
  f.with_default("store_crash", plan.store_crash);
  f.with_default("party_crash", plan.party_crash);
  f.with_default("partition", plan.partition);
  f.with_default("isolation", plan.isolation);
  f.with_default("outage", plan.outage);
  f.with_default("vanish_permille", plan.vanish_permille);
  f.with_default("clock_step", plan.clock_step);
  f.with_default("slow_disk", plan.slow_disk);
  f.with_default("max_skew", plan.max_skew);
  f.with_default("cluster_fault", plan.cluster_fault);
}

template <class Fields>
void fields(Fields& f, Scenario& scenario) {
  f.with_default("brokers", scenario.brokers, Scenario{}.brokers);
  f.with_default("providers", scenario.providers, Scenario{}.providers);
  f.with_default("buyers", scenario.buyers, Scenario{}.buyers);
  f.optional("clusters", scenario.clusters);
  f.optional("autoscalers", scenario.autoscalers);
  f.optional("fabrics", scenario.fabrics);
  f.optional("lies", scenario.lies);
  f.with_default("length", scenario.length, Scenario{}.length);
  f.with_default("settle", scenario.settle, Scenario{}.settle);
  f.optional("faults", scenario.faults);
}

Status validate(const Scenario& scenario) {
  using model::check_range;
  SPILLWAY_TRY(check_range("brokers", scenario.brokers, 1, 16));
  SPILLWAY_TRY(check_range("providers", scenario.providers, 1, 1000));
  SPILLWAY_TRY(check_range("buyers", scenario.buyers, 1, 1000));
  if (scenario.clusters) SPILLWAY_TRY(check_range("clusters", *scenario.clusters, 0, 100));
  if (scenario.autoscalers) {
    SPILLWAY_TRY(check_range("autoscalers", *scenario.autoscalers, 0, 100));
  }
  if (scenario.fabrics) SPILLWAY_TRY(check_range("fabrics", *scenario.fabrics, 0, 20));
  if (scenario.lies) SPILLWAY_TRY(check_range("lies", *scenario.lies, 0, 1000));
  SPILLWAY_TRY(check_range("length", scenario.length, minutes(1), hours(1000)));
  // Old keys are forgotten after 13 minutes, the longest that anything takes to end.
  SPILLWAY_TRY(check_range("settle", scenario.settle, minutes(15), hours(100)));
  if (!scenario.faults) return {};
  SPILLWAY_TRY(check_range("faults.drop_permille", scenario.faults->drop_permille, 0, 900));
  SPILLWAY_TRY(check_range("faults.double_permille", scenario.faults->double_permille, 0, 1000));
  SPILLWAY_TRY(check_range("faults.vanish_permille", scenario.faults->vanish_permille, 0, 1000));
  return check_range("faults.late_permille", scenario.faults->late_permille, 0, 1000);
}

Result<Scenario> scenario_from_yaml(std::string_view text, std::string_view source) {
  return model::read_yaml<Scenario>(text, {.what = source, .noun = "scenario"});
}

}  // namespace spillway::sim
