// Hostile YAML as a recommender's policy: whatever is read is written to JSON and YAML that read as
// the same, and recommends nothing that its caps forbid.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "rank/caps.h"
#include "rank/recommend.h"

namespace spillway::rank {
namespace {

constexpr Instant k_then{1'800'000'000'000};

std::vector<model::Offer> few_offers() {
  std::vector<model::Offer> offers(3);
  for (size_t i = 0; i < offers.size(); ++i) {
    offers[i].id = OfferId("p" + std::to_string(i) + "/a");
    offers[i].shape.cpu_millis = 2000;
    offers[i].price.unit_hour = static_cast<int64_t>(i) * 400'000;
    offers[i].place.country = "IT";
    offers[i].labels = {{"kubernetes.io/arch", "amd64"}};
  }
  offers[1].energy.emplace().carbon_now = 200;
  offers[1].energy->provenance = {"x", k_then, model::Evidence::claimed};
  offers[2].price.unit_hour = model::k_max_price;
  offers[2].price.minimum_term = hours(10 * 365 * 24);
  return offers;
}

std::vector<Option> few_options(const std::vector<model::Offer>& offers) {
  std::vector<Option> options(offers.size());
  for (size_t i = 0; i < offers.size(); ++i) options[i].offer = &offers[i];
  options[0].failures = Failures{INT64_MAX, Instant{0}};
  options[1].round_trip = RoundTrip{INT64_MAX, k_then};
  options[2].heard = k_then;
  return options;
}

void check_question(const Policy& policy, const Workload& workload) {
  static const std::vector<model::Offer> k_offers = few_offers();
  static const std::vector<Option> k_options = few_options(k_offers);
  const Recommendation told = recommend(policy, workload, k_options, {}, k_then);
  SPILLWAY_CHECK(told.choices.size() + told.excluded.size() == k_options.size(), "one is lost");
  for (const Option& option : k_options) {
    for (const Choice& choice : told.choices) {
      if (choice.offer != option.offer->id) continue;
      const std::vector<Holding> after = {
          holding_of(option, choice.units, told.workload_class, k_then)};
      const CapRooms rooms(effective_policy(policy, workload), after, k_then);
      for (const Room& room : rooms.rooms()) {
        SPILLWAY_CHECK(room.used <= room.cap, "a choice that a cap forbids");
      }
    }
  }
  SPILLWAY_CHECK(!to_text(told).empty(), "nothing to say");
}

void check_text(std::string_view text) {
  const auto policy = policy_from_yaml(text, "fuzz");
  if (!policy) {
    SPILLWAY_CHECK(policy.error().code == Code::invalid, "bad input is the sender's fault");
    return;
  }
  const auto from_json = policy_from_json(to_json(*policy), "fuzz");
  SPILLWAY_CHECK(from_json.has_value() && *from_json == *policy, "JSON reads as something else");
  const auto from_yaml = policy_from_yaml(to_yaml(*policy), "fuzz");
  SPILLWAY_CHECK(from_yaml.has_value() && *from_yaml == *policy, "YAML reads as something else");
  Workload workload;
  workload.units = 1000;
  check_question(*policy, workload);
  for (const WorkloadClass& which : policy->classes) {
    if (!which.namespaces.empty()) workload.kube_namespace = which.namespaces.front();
    check_question(*policy, workload);
  }
}

}  // namespace
}  // namespace spillway::rank

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  spillway::rank::check_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
