// Every valid noun survives being written and read, and equal nouns are equal bytes.
#include "model/documents.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/generators.h"

namespace spillway::model {
namespace {

template <class Noun, class FromJson, class FromYaml>
void survives(const Noun& noun, FromJson from_json, FromYaml from_yaml) {
  const Status valid = validate(noun);
  if (!valid) RC_FAIL(valid.error().message());
  const std::string text = to_json(noun);
  RC_LOG() << text;
  const auto back = from_json(text, "test");
  if (!back) RC_FAIL(back.error().message());
  RC_ASSERT(*back == noun);
  RC_ASSERT(to_json(*back) == text);
  // JSON is YAML as well: both parsers must come to the same.
  const auto by_yaml = from_yaml(text, "test");
  if (!by_yaml) RC_FAIL(by_yaml.error().message());
  RC_ASSERT(*by_yaml == noun);
}

RC_GTEST_PROP(Documents, PoolSurvives, ()) {
  survives(*test::any_pool(), pool_from_json, pool_from_yaml);
}
RC_GTEST_PROP(Documents, OfferSurvives, ()) {
  survives(*test::any_offer(), offer_from_json, offer_from_yaml);
}
RC_GTEST_PROP(Documents, ClusterSurvives, ()) {
  survives(*test::any_cluster(), cluster_from_json, cluster_from_yaml);
}
RC_GTEST_PROP(Documents, ContractSurvives, ()) {
  survives(*test::any_contract(), contract_from_json, contract_from_yaml);
}
RC_GTEST_PROP(Documents, IntentSurvives, ()) {
  survives(*test::any_intent(), intent_from_json, intent_from_yaml);
}

// One byte changed: read as something valid, or refused; never anything else.
RC_GTEST_PROP(Documents, ADamagedContractIsReadOrRefused, ()) {
  std::string text = to_json(*test::any_contract());
  const auto at = *rc::gen::inRange<size_t>(0, text.size());
  text[at] = *rc::gen::arbitrary<char>();
  if (const auto contract = contract_from_json(text)) RC_ASSERT(validate(*contract).has_value());
}

}  // namespace
}  // namespace spillway::model
