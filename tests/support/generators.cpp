#include "support/generators.h"

namespace spillway::test {

rc::Gen<int64_t> any_between(int64_t low, int64_t high) {
  const auto within = high == INT64_MAX ? rc::gen::inRange<int64_t>(low, high)
                                        : rc::gen::inRange<int64_t>(low, high + 1);
  return rc::gen::weightedOneOf<int64_t>(
      {{1, rc::gen::just(low)}, {1, rc::gen::just(high)}, {6, within}});
}

rc::Gen<int32_t> any_between_32(int32_t low, int32_t high) {
  return rc::gen::map(any_between(low, high), [](int64_t n) { return static_cast<int32_t>(n); });
}

rc::Gen<std::string> any_dns_label() {
  return rc::gen::exec([] {
    const auto length = *rc::gen::weightedElement<size_t>({{4, 1}, {4, 3}, {2, 10}, {1, 63}});
    static const std::string k_ends = "abcxyz019";
    static const std::string k_inner = "ab-z09-";
    std::string text;
    for (size_t i = 0; i < length; ++i) {
      const bool end = i == 0 || i + 1 == length;
      text += *rc::gen::elementOf(end ? k_ends : k_inner);
    }
    return text;
  });
}

rc::Gen<std::string> any_label_value() {
  return rc::gen::oneOf(
      rc::gen::just(std::string()), any_dns_label(),
      rc::gen::element<std::string>("A_b.c", "true", "12", "1.5", "null", "0x1F"));
}

rc::Gen<std::string> any_label_key() {
  return rc::gen::oneOf(any_dns_label(), rc::gen::map(any_dns_label(), [](std::string name) {
                          return "example.com/" + name;
                        }));
}

rc::Gen<std::string> any_text() {
  return rc::gen::map(
      few_of<std::string>(6, rc::gen::element<std::string>("a", "Z", " ", "\"", "\\", "/", "é", "€",
                                                           "𝄞", "<", "'", ":", "#", "-", "0")),
      [](const std::vector<std::string>& parts) {
        std::string text;
        for (const std::string& part : parts) text += part;
        return text;
      });
}

rc::Gen<Instant> any_instant() {
  return rc::gen::map(any_between(k_first_instant.ms, k_last_instant.ms),
                      [](int64_t ms) { return Instant{ms}; });
}

rc::Gen<Duration> any_duration(Duration low, Duration high) {
  return rc::gen::map(any_between(low.ms, high.ms), [](int64_t ms) { return Duration{ms}; });
}

rc::Gen<Currency> any_currency() {
  return rc::gen::element(Currency{}, Currency{{'U', 'S', 'D'}}, Currency{{'X', 'C', 'R'}});
}

rc::Gen<ClusterId> any_cluster_id() {
  return rc::gen::map(any_dns_label(), [](std::string text) { return ClusterId(std::move(text)); });
}

rc::Gen<model::Counts> any_counts(std::string prefix, int64_t low, int64_t high) {
  return rc::gen::exec([prefix, low, high] {
    auto names = *few_of<std::string>(3, any_dns_label());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    model::Counts counts;
    for (const std::string& name : names) {
      counts.push_back({prefix + name, *any_between(low, high)});
    }
    return counts;
  });
}

rc::Gen<model::Labels> any_labels() {
  return rc::gen::exec([] {
    auto keys = *few_of<std::string>(4, any_label_key());
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    model::Labels labels;
    for (const std::string& key : keys) labels.push_back({key, *any_label_value()});
    return labels;
  });
}

rc::Gen<model::Resources> any_resources(int64_t most) {
  return rc::gen::exec([most] {
    model::Resources r;
    r.cpu_millis = *any_between(0, most);
    r.memory_bytes = *any_between(0, most);
    r.pods = *any_between(0, most);
    r.storage_bytes = *any_between(0, most);
    if (most > 0) {
      r.gpus = *any_counts("", 1, most);
      r.extended = *any_counts("example.com/", 1, most);
    }
    return r;
  });
}

rc::Gen<model::Resources> any_shape() {
  return rc::gen::map(any_resources(int64_t{1} << 34), [](model::Resources shape) {
    if (shape.is_zero()) shape.cpu_millis = 1;
    return shape;
  });
}

rc::Gen<model::Price> any_price() {
  return rc::gen::exec([] {
    constexpr int64_t k_most = 1000;
    model::Price p;
    p.currency = *any_currency();
    p.basis = *rc::gen::element(model::PriceBasis::reserved, model::PriceBasis::pay_per_use);
    p.unit_hour = *any_between(0, 1'000'000'000);
    p.cpu_hour = *any_between(0, k_most);
    p.memory_gib_hour = *any_between(0, 1'000'000);
    p.storage_gib_hour = *any_between(0, 1'000'000);
    p.gpu_hour = *any_counts("", 1, 1);
    p.extended_hour = *any_counts("example.com/", 1, 1);
    p.minimum_term = *any_duration(Duration{0}, model::k_longest_term);
    return p;
  });
}

rc::Gen<model::Place> any_place() {
  return rc::gen::exec([] {
    model::Place p;
    p.latitude_microdegrees = *any_between_32(-90'000'000, 90'000'000);
    p.longitude_microdegrees = *any_between_32(-180'000'000, 180'000'000);
    p.country = *rc::gen::element<std::string>("", "IT", "NO");
    p.region = *any_text();
    p.city = *any_text();
    return p;
  });
}

rc::Gen<model::Energy> any_energy() {
  return rc::gen::exec([] {
    model::Energy e;
    e.carbon_now = *any_between_32(0, model::k_max_carbon);
    if (*rc::gen::arbitrary<bool>()) {
      e.carbon_forecast =
          *rc::gen::container<std::vector<int32_t>>(24, any_between_32(0, model::k_max_carbon));
    }
    if (*rc::gen::arbitrary<bool>()) {
      const int32_t solar = *any_between_32(0, 1000);
      e.mix = {{"solar", solar}, {"grid", 1000 - solar}};
    }
    e.unit_milliwatts = *maybe_of(any_between(0, model::k_max_milliwatts));
    e.provenance.source = "s" + *any_text();
    e.provenance.as_of = *any_instant();
    e.provenance.evidence = *rc::gen::element(model::Evidence::claimed, model::Evidence::measured);
    return e;
  });
}

rc::Gen<model::Visibility> any_visibility() {
  return rc::gen::exec([] {
    model::Visibility v;
    v.everyone = *rc::gen::arbitrary<bool>();
    if (v.everyone) return v;
    v.clusters = *few_of(3, any_cluster_id());
    std::sort(v.clusters.begin(), v.clusters.end());
    v.clusters.erase(std::unique(v.clusters.begin(), v.clusters.end()), v.clusters.end());
    v.selector = *any_labels();
    return v;
  });
}

rc::Gen<model::Terms> any_terms() {
  return rc::gen::exec([] {
    model::Terms t;
    if (*rc::gen::arbitrary<bool>()) return t;
    t.lease = *any_duration(model::k_shortest_lease, model::k_longest_lease);
    t.notice = *any_duration(Duration{0}, model::k_longest_wait);
    t.drain = *any_duration(Duration{0}, model::k_longest_wait);
    t.grace = *any_duration(Duration{0}, model::k_longest_wait);
    return t;
  });
}

rc::Gen<std::vector<model::Taint>> any_taints() {
  return rc::gen::exec([] {
    std::vector<model::Taint> taints;
    for (const model::Label& label : *any_labels()) {
      taints.push_back({label.key, label.value,
                        *rc::gen::element(model::TaintEffect::no_schedule,
                                          model::TaintEffect::prefer_no_schedule,
                                          model::TaintEffect::no_execute)});
    }
    return taints;
  });
}

rc::Gen<model::Pool> any_pool() {
  return rc::gen::exec([] {
    model::Pool p;
    p.id = PoolId(*any_dns_label() + "/" + *any_dns_label());
    p.node = *any_shape();
    p.capacity = *any_resources();
    return p;
  });
}

rc::Gen<model::Offer> any_offer() {
  return rc::gen::exec([] {
    model::Offer o;
    const std::string owner = *any_dns_label();
    o.id = OfferId(owner + "/" + *any_dns_label());
    o.pool = PoolId(owner + "/" + *any_dns_label());
    o.shape = *any_shape();
    o.price = *any_price();
    o.labels = *any_labels();
    o.taints = *any_taints();
    if (*rc::gen::arbitrary<bool>()) o.place = *any_place();
    o.network.bandwidth_mbit = *any_between(0, model::k_max_bandwidth_mbit);
    o.network.egress_gib_price = *any_between(0, model::k_max_price);
    o.network.behind_nat = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>()) o.network.probe = "192.0.2.7:443";
    o.energy = *maybe_of(any_energy());
    o.visibility = *any_visibility();
    o.terms = *any_terms();
    o.until = *maybe_of(any_instant());
    return o;
  });
}

rc::Gen<model::Cluster> any_cluster() {
  return rc::gen::exec([] {
    model::Cluster c;
    c.id = *any_cluster_id();
    c.labels = *any_labels();
    const auto cap = maybe_of(any_between(0, model::k_max_amount));
    c.quota.units = *cap;
    c.quota.open_holds = *cap;
    c.quota.cpu_millis = *cap;
    c.quota.memory_bytes = *cap;
    c.quota.pods = *cap;
    c.quota.storage_bytes = *cap;
    c.quota.gpus = *any_counts("", 0, model::k_max_amount);
    c.quota.extended = *any_counts("example.com/", 0, model::k_max_amount);
    if (*rc::gen::arbitrary<bool>()) {
      c.budget = model::Budget{Money{*any_between(0, INT64_MAX), *any_currency()}, *any_instant()};
    }
    return c;
  });
}

rc::Gen<ContractId> any_contract_id() {
  return rc::gen::exec([] {
    return make_contract_id(*any_instant(), *rc::gen::arbitrary<uint64_t>(),
                            *rc::gen::arbitrary<uint64_t>());
  });
}

rc::Gen<model::Use> any_use() {
  return rc::gen::exec([] {
    model::Use use;
    if (*rc::gen::arbitrary<bool>()) return use;
    use.cpu_core_ms = *any_between(0, model::k_max_use);
    use.memory_mib_s = *any_between(0, model::k_max_use);
    use.storage_mib_s = *any_between(0, model::k_max_use);
    use.gpu_ms = *any_counts("", 1, model::k_max_use);
    use.extended_ms = *any_counts("example.com/", 1, model::k_max_use);
    return use;
  });
}

rc::Gen<model::Contract> any_contract() {
  return rc::gen::exec([] {
    using model::ContractState;
    using model::EndReason;
    model::Contract c;
    c.id = *any_contract_id();
    c.buyer = *any_cluster_id();
    c.provider = *any_cluster_id();
    c.pool = PoolId(c.provider.text + "/" + *any_dns_label());
    c.offer = OfferId(c.provider.text + "/" + *any_dns_label());
    c.shape = *any_shape();
    c.price = *any_price();
    c.rate = model::hourly_rate(c.price, c.shape);
    c.terms = *any_terms();
    c.state = *rc::gen::element(ContractState::hold, ContractState::active, ContractState::closing,
                                ContractState::closed);
    if (c.state == ContractState::closed) {
      c.reason = *rc::gen::element(EndReason::expired, EndReason::released, EndReason::lapsed,
                                   EndReason::noticed, EndReason::reclaimed);
    } else if (c.state == ContractState::closing) {
      c.reason = *rc::gen::element(EndReason::lapsed, EndReason::noticed, EndReason::reclaimed);
    }
    const bool must_have_started = c.state == ContractState::active ||
                                   c.state == ContractState::closing ||
                                   c.reason == EndReason::lapsed;
    const bool cannot_have_started =
        c.state == ContractState::hold || c.reason == EndReason::expired;
    if (must_have_started || (!cannot_have_started && *rc::gen::arbitrary<bool>())) {
      c.started = *any_instant();
    }
    const int32_t count = *rc::gen::inRange(1, 6);
    for (int32_t i = 0; i < count; ++i) {
      model::Unit unit;
      unit.number = i;
      // The last one decides: somebody lives exactly when the contract does.
      unit.live = c.is_live() && (i + 1 == count || *rc::gen::arbitrary<bool>());
      unit.reserved = *any_between(0, model::k_max_charge);
      if (!unit.live) {
        unit.ended = *any_instant();
        unit.charged = *any_between(0, model::k_max_charge);
        unit.charged_for_use = *any_between(0, unit.charged);
      }
      unit.metered = *any_use();
      c.units.push_back(unit);
    }
    c.created = *any_instant();
    c.deadline = *any_instant();
    c.outage_mark = *any_duration(Duration{0}, hours(24));
    c.grace_used = *any_duration(Duration{0}, c.terms.grace);
    return c;
  });
}

rc::Gen<model::LabelConstraint> any_label_constraint() {
  return rc::gen::exec([] {
    using model::Operator;
    model::LabelConstraint constraint;
    constraint.key = *any_label_key();
    constraint.op =
        *rc::gen::element(Operator::in, Operator::not_in, Operator::exists, Operator::absent);
    if (constraint.op == Operator::in || constraint.op == Operator::not_in) {
      constraint.values = *few_of(3, any_label_value());
      constraint.values.push_back(*any_label_value());
    }
    return constraint;
  });
}

rc::Gen<model::Intent> any_intent() {
  return rc::gen::exec([] {
    model::Intent i;
    i.shape = *any_shape();
    i.units = *any_between_32(1, static_cast<int32_t>(model::k_max_units));
    i.currency = *any_currency();
    model::Constraints& c = i.constraints;
    c.labels = *few_of(3, any_label_constraint());
    c.countries = *few_of(3, rc::gen::element<std::string>("IT", "NO", "DE"));
    c.providers = *few_of(3, any_cluster_id());
    c.excluded_providers = *few_of(3, any_cluster_id());
    c.tolerated_taints = *few_of(3, any_label_key());
    c.tolerate_all_taints = *rc::gen::arbitrary<bool>();
    c.max_unit_hour = *maybe_of(any_between(0, model::k_max_price));
    c.max_carbon = *maybe_of(any_between_32(0, model::k_max_carbon));
    c.min_lease = *maybe_of(any_duration(Duration{0}, model::k_longest_lease));
    i.worth.money_permille = *any_between(0, model::k_max_permille);
    i.worth.carbon_kg = *any_between(0, model::k_max_price);
    i.worth.distance_1000km = *any_between(0, model::k_max_price);
    i.near = *maybe_of(any_place());
    if (i.near) c.max_distance_metres = *maybe_of(any_between(0, model::k_max_distance_metres));
    return i;
  });
}

}  // namespace spillway::test
