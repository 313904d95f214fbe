// What a signed contract costs both sides together: the payload made canonical, signed by the
// buyer, read and signed by the provider, read and both signatures verified.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "bench/bench.h"
#include "model/canonical.h"
#include "model/tree.h"
#include "pki/jws.h"

namespace spillway::bench {
namespace {

constexpr int k_contracts = 500;
constexpr std::string_view k_contract_type = "spillway-contract";

// Two units by way of Liqo: about what a contract will have to say.
model::Node contract_payload(int number) {
  using namespace model;
  Node payload = object_node();
  put(payload, "version", integer_node(1));
  put(payload, "hold", text_node(fmt::format("c-{:026}", number)));
  for (const char* side : {"buyer", "provider"}) {
    Node& party = put(payload, side, object_node());
    put(party, "cluster", text_node(std::string(side) + "-1"));
    put(party, "signing_key", text_node(std::string(43, 'k')));
    put(party, "sealing_key", text_node(std::string(43, 's')));
    put(party, "liqo_id", text_node(std::string(side) + "-cluster"));
  }
  Node& shape = put(payload, "shape", object_node());
  for (const char* resource : {"cpu_millis", "memory_bytes", "pods", "storage_bytes"}) {
    put(shape, resource, integer_node(int64_t{1} << 33));
  }
  put(payload, "rate_micros_per_unit_hour", integer_node(48'000));
  put(payload, "currency", text_node("EUR"));
  Node& terms = put(payload, "terms", object_node());
  for (const char* term : {"lease", "notice", "grace", "fence", "minimum", "drain"}) {
    put(terms, std::string(term) + "_ms", integer_node(600'000));
  }
  Node& units = put(payload, "units", array_node());
  for (int unit = 0; unit < 2; ++unit) {
    units.items.push_back(object_node());
    put(units.items.back(), "name", text_node(fmt::format("sw-c-{:026}-{}", number, unit)));
    put(units.items.back(), "request_sha256", text_node(std::string(64, 'a')));
  }
  return payload;
}

void agree(int number, const pki::Key& buyer, const pki::Key& provider,
           const std::vector<pki::PublicKey>& keys) {
  const std::string payload = *model::canonical_json(contract_payload(number));
  const std::string sent = pki::Jws::sign(k_contract_type, payload, buyer)->to_text();
  Result<pki::Jws> received = pki::Jws::parse(sent);
  SPILLWAY_CHECK(model::parse_canonical_json(received->unverified_payload()).has_value(),
                 "payload");
  SPILLWAY_CHECK(received->add_signature(provider).has_value(), "countersigned");
  const Result<pki::Jws> whole = pki::Jws::parse(received->to_text());
  SPILLWAY_CHECK(whole->verify(k_contract_type, keys).has_value(), "verified");
  keep(*whole);
}

}  // namespace
}  // namespace spillway::bench

SPILLWAY_BENCH(agreements, contracts) {
  using namespace spillway;
  using namespace spillway::bench;
  const pki::Key buyer = pki::Key::generate_member();
  const pki::Key provider = pki::Key::generate_member();
  const std::vector<pki::PublicKey> keys{buyer.public_key(), provider.public_key()};
  std::vector<double> rates;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    const double begin = cpu_seconds();
    for (int number = 0; number < k_contracts; ++number) agree(number, buyer, provider, keys);
    rates.push_back(k_contracts / (cpu_seconds() - begin));
  }
  report.at_least("contracts_per_cpu_s", rates, "1/s", 2000);
}
