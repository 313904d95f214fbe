#include "rank/filters.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/money.h"

namespace spillway::rank {
namespace {

constexpr std::array<std::string_view, k_reasons> k_reason_names = {
    "ended", "currency", "shape",    "label", "country", "provider", "taint",
    "price", "carbon",   "distance", "lease", "paused",  "stale",    "sold out"};

// What no offer mentions has no Ref and cannot match.
std::vector<Ref> refs_of(const Texts& texts, const std::vector<std::string>& names) {
  std::vector<Ref> refs;
  for (const std::string& name : names) {
    if (const std::optional<Ref> ref = texts.find(std::string_view(name))) refs.push_back(*ref);
  }
  return refs;
}

std::vector<Ref> refs_of(const Texts& texts, const std::vector<ClusterId>& clusters) {
  std::vector<Ref> refs;
  for (const ClusterId& cluster : clusters) {
    if (const std::optional<Ref> ref = texts.find(std::string_view(cluster.text))) {
      refs.push_back(*ref);
    }
  }
  return refs;
}

bool is_listed(const std::vector<Ref>& refs, Ref ref) {
  for (const Ref listed : refs) {  // a handful: std::find's unrolling only costs
    if (listed == ref) return true;
  }
  return false;
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string one_of(const std::vector<std::string>& names) {
  return names.size() == 1 ? names.front() : "one of " + joined(names);
}

int64_t excess(int64_t has, int64_t limit) {
  if (limit <= 0) return 1000;
  const Int128 permille = (static_cast<Int128>(has) - limit) * 1000 / limit;
  return static_cast<int64_t>(std::min<Int128>(permille, INT64_MAX));
}

int64_t shortage(int64_t has, int64_t wanted) {
  if (has >= wanted) return 0;
  return static_cast<int64_t>((static_cast<Int128>(wanted) - has) * 1000 / wanted);
}

}  // namespace

std::string_view to_text(Reason reason) { return k_reason_names[static_cast<size_t>(reason)]; }

int64_t exact_metres(const model::Place& place, const Row& row) {
  model::Place there;
  there.latitude_microdegrees = row.latitude_microdegrees;
  there.longitude_microdegrees = row.longitude_microdegrees;
  return model::great_circle_metres(place, there);
}

std::string distance_to_text(int64_t metres) {
  if (metres < 1000) return fmt::format("{} m", metres);
  if (metres < 9950)
    return fmt::format("{}.{} km", (metres + 50) / 1000, (metres + 50) % 1000 / 100);
  return fmt::format("{} km", (metres + 500) / 1000);
}

Filters::Filters(const Catalogue& catalogue, const model::Intent& intent, Instant now)
    : catalogue_(catalogue), intent_(intent), now_(now), currency_(pack(intent.currency)) {
  const model::Constraints& wanted = intent.constraints;
  ask(Reason::ended);
  ask(Reason::currency);
  ask(Reason::shape);
  ask(Reason::label, !wanted.labels.empty());
  ask(Reason::country, !wanted.countries.empty());
  ask(Reason::provider, !wanted.providers.empty() || !wanted.excluded_providers.empty());
  ask(Reason::taint, !wanted.tolerate_all_taints);
  ask(Reason::price, wanted.max_unit_hour.has_value());
  ask(Reason::carbon, wanted.max_carbon.has_value());
  ask(Reason::distance, wanted.max_distance_metres && intent.near);
  ask(Reason::lease, wanted.min_lease.has_value());
  ask(Reason::paused);
  ask(Reason::stale);
  ask(Reason::sold_out);

  prepare_labels();
  prepare_names();
  if (wanted.max_distance_metres && intent.near) {
    near_ = direction_of(intent.near->latitude_microdegrees, intent.near->longitude_microdegrees);
    const auto limit = static_cast<double>(*wanted.max_distance_metres);
    surely_near_ = chord_squared_of(limit - k_slack_metres);
    // Half around the Earth nothing is surely too far: the chord no longer grows.
    surely_far_ =
        limit + k_slack_metres < k_half_girth_metres ? chord_squared_of(limit + k_slack_metres) : 5;
  }
}

void Filters::prepare_labels() {
  const Texts& texts = catalogue_.texts();
  for (const model::LabelConstraint& constraint : intent_.constraints.labels) {
    labels_.push_back({texts.find(std::string_view(constraint.key)), constraint.op,
                       refs_of(texts, constraint.values)});
  }
}

void Filters::prepare_names() {
  const Texts& texts = catalogue_.texts();
  const model::Constraints& wanted = intent_.constraints;
  for (const model::Count& gpu : intent_.shape.gpus) {
    gpus_.push_back({texts.find(std::string_view(gpu.name)), gpu.amount});
  }
  for (const model::Count& count : intent_.shape.extended) {
    extended_.push_back({texts.find(std::string_view(count.name)), count.amount});
  }
  countries_ = refs_of(texts, wanted.countries);
  providers_ = refs_of(texts, wanted.providers);
  excluded_ = refs_of(texts, wanted.excluded_providers);
  tolerated_ = refs_of(texts, wanted.tolerated_taints);
}

bool Filters::covers(const Row& row) const {
  const model::Resources& wanted = intent_.shape;
  if (row.cpu_millis < wanted.cpu_millis || row.memory_bytes < wanted.memory_bytes ||
      row.pods < wanted.pods || row.storage_bytes < wanted.storage_bytes) {
    return false;
  }
  for (const CountTest& test : gpus_) {
    bool covered = false;
    for (uint32_t i = 0; i < row.packed.gpus() && !covered; ++i) {
      const PackedOffer::CountRef gpu = row.packed.gpu(i);
      covered = gpu.name == test.name && gpu.amount >= test.amount;
    }
    if (!covered) return false;
  }
  for (const CountTest& test : extended_) {
    bool covered = false;
    for (uint32_t i = 0; i < row.packed.extended() && !covered; ++i) {
      const PackedOffer::CountRef count = row.packed.extended(i);
      covered = count.name == test.name && count.amount >= test.amount;
    }
    if (!covered) return false;
  }
  return true;
}

bool Filters::satisfies(const LabelTest& test, const Row& row) const {
  std::optional<Ref> value;
  if (test.key) {
    const uint32_t count = row.packed.labels();
    for (uint32_t i = 0; i < count && !value; ++i) {
      const PackedOffer::LabelRefs label = row.packed.label(i);
      if (label.key == *test.key) value = label.value;
    }
  }
  switch (test.op) {
    case model::Operator::in:
      return value && is_listed(test.values, *value);
    case model::Operator::not_in:
      return !value || !is_listed(test.values, *value);
    case model::Operator::exists:
      return value.has_value();
    case model::Operator::absent:
      return !value;
  }
  return false;
}

bool Filters::too_far(const Row& row) const {
  const double chord = chord_squared(near_, row.direction);
  if (chord < surely_near_) return false;
  if (chord > surely_far_) return true;
  return exact_metres(*intent_.near, row) > *intent_.constraints.max_distance_metres;
}

// Inline with a constant reason, so that a scan runs straight through its tests.
[[gnu::always_inline]] inline bool Filters::fails_asked(Reason reason, const Row& row) const {
  const model::Constraints& wanted = intent_.constraints;
  switch (reason) {
    case Reason::ended:
      return now_ >= row.until;
    case Reason::currency:
      return row.currency != currency_;
    case Reason::shape:
      return !covers(row);
    case Reason::label:
      for (const LabelTest& test : labels_) {
        if (!satisfies(test, row)) return true;
      }
      return false;
    case Reason::country:
      return !is_listed(countries_, row.country);
    case Reason::provider:
      return (!wanted.providers.empty() && !is_listed(providers_, row.provider)) ||
             is_listed(excluded_, row.provider);
    case Reason::taint:
      for (uint32_t i = 0; i < row.packed.taints(); ++i) {
        if (!is_listed(tolerated_, row.packed.taint_key(i))) return true;
      }
      return false;
    case Reason::price:
      return row.rate > *wanted.max_unit_hour;
    case Reason::carbon: {
      const std::optional<int32_t> carbon = row.packed.carbon_at(now_);
      return !carbon || *carbon > *wanted.max_carbon;
    }
    case Reason::distance:
      return too_far(row);
    case Reason::lease:
      return row.lease < *wanted.min_lease;
    case Reason::paused:
      return !catalogue_.pool(row).sellable;
    case Reason::stale:
      return now_ >= catalogue_.pool(row).sellable_until;
    case Reason::sold_out:
      return !catalogue_.covers_a_unit(row);
  }
  return true;
}

bool Filters::fails(Reason reason, const Row& row) const {
  return asked_[static_cast<size_t>(reason)] && fails_asked(reason, row);
}

template <size_t... Reasons>
std::optional<Reason> Filters::first_of(const Row& row, std::index_sequence<Reasons...>) const {
  std::optional<Reason> first;
  const auto test = [&](Reason reason, bool fails) {
    if (fails) first = reason;
    return fails;
  };
  static_cast<void>((test(static_cast<Reason>(Reasons),
                          asked_[Reasons] && fails_asked(static_cast<Reason>(Reasons), row)) ||
                     ...));
  return first;
}

std::optional<Reason> Filters::first_failure(const Row& row) const {
  return first_of(row, std::make_index_sequence<k_reasons>());
}

std::string Filters::label_sentence(const Row& row) const {
  const Texts& texts = catalogue_.texts();
  for (size_t n = 0; n < labels_.size(); ++n) {
    if (satisfies(labels_[n], row)) continue;
    const model::LabelConstraint& wanted = intent_.constraints.labels[n];
    std::string has = "no label " + wanted.key;
    for (uint32_t i = 0; i < row.packed.labels(); ++i) {
      const PackedOffer::LabelRefs label = row.packed.label(i);
      if (label.key == labels_[n].key)
        has = fmt::format("label {} is {}", wanted.key, texts[label.value]);
    }
    switch (wanted.op) {
      case model::Operator::in:
        return has + ", " + one_of(wanted.values) + " wanted";
      case model::Operator::not_in:
        return has + ", which is ruled out";
      case model::Operator::exists:
        return has + ", any value wanted";
      case model::Operator::absent:
        return has + ", must be absent";
    }
  }
  return {};
}

std::string Filters::taint_sentence(const Row& row) const {
  std::vector<std::string> untolerated;
  for (uint32_t i = 0; i < row.packed.taints(); ++i) {
    const Ref key = row.packed.taint_key(i);
    if (!is_listed(tolerated_, key)) untolerated.push_back(catalogue_.texts()[key]);
  }
  return fmt::format("tainted with {}, not tolerated", joined(untolerated));
}

std::string Filters::sentence(Reason reason, const Row& row) const {
  const model::Constraints& wanted = intent_.constraints;
  switch (reason) {
    case Reason::ended:
      return "sold only until " + to_text(row.until);
    case Reason::currency:
      return fmt::format("priced in {}, {} wanted", unpack_currency(row.currency).text(),
                         intent_.currency.text());
    case Reason::shape: {
      const model::Resources shape = catalogue_.shape(row);
      return fmt::format("short of {}: a unit has {}; {} wanted", shape.first_short(intent_.shape),
                         to_text(shape), to_text(intent_.shape));
    }
    case Reason::label:
      return label_sentence(row);
    case Reason::country: {
      const std::string& country = catalogue_.texts()[row.country];
      return fmt::format("in {}, {} wanted", country.empty() ? "no stated country" : country,
                         one_of(wanted.countries));
    }
    case Reason::provider: {
      const std::string& provider = catalogue_.texts()[row.provider];
      return is_listed(excluded_, row.provider)
                 ? fmt::format("provider {} is excluded", provider)
                 : fmt::format("provider {} is not among those wanted", provider);
    }
    case Reason::taint:
      return taint_sentence(row);
    case Reason::price:
      return fmt::format("{} per unit-hour, at most {} wanted",
                         to_text(Money{row.rate, unpack_currency(row.currency)}),
                         to_text(Money{*wanted.max_unit_hour, intent_.currency}));
    case Reason::carbon: {
      const std::optional<int32_t> carbon = row.packed.carbon_at(now_);
      return carbon ? fmt::format("{} g/kWh, at most {} g/kWh wanted", *carbon, *wanted.max_carbon)
                    : fmt::format("carbon unknown, at most {} g/kWh wanted", *wanted.max_carbon);
    }
    case Reason::distance: {
      const int64_t metres = exact_metres(*intent_.near, row);
      std::string far = distance_to_text(metres);
      std::string limit = distance_to_text(*wanted.max_distance_metres);
      if (far == limit) {  // rounding must not make it look like a contradiction
        far = fmt::format("{} m", metres);
        limit = fmt::format("{} m", *wanted.max_distance_metres);
      }
      return fmt::format("{} away, at most {} wanted", far, limit);
    }
    case Reason::lease:
      return fmt::format("leased for {} at a time, at least {} wanted", to_text(row.lease),
                         to_text(*wanted.min_lease));
    case Reason::paused:
      return fmt::format("pool {} is not for sale at the moment", catalogue_.pool_id(row));
    case Reason::stale:
      return fmt::format("provider {} has gone silent: it vouched until {}",
                         catalogue_.texts()[row.provider],
                         to_text(catalogue_.pool(row).sellable_until));
    case Reason::sold_out:
      return fmt::format("no unit is free in pool {}", catalogue_.pool_id(row));
  }
  return {};
}

int64_t Filters::excess_permille(Reason reason, const Row& row) const {
  const model::Constraints& wanted = intent_.constraints;
  switch (reason) {
    case Reason::shape: {
      const model::Resources& shape = intent_.shape;
      const int64_t short_by =
          std::max({shortage(row.cpu_millis, shape.cpu_millis),
                    shortage(row.memory_bytes, shape.memory_bytes), shortage(row.pods, shape.pods),
                    shortage(row.storage_bytes, shape.storage_bytes)});
      return short_by > 0 ? short_by : 1000;  // only GPUs and the like are missing
    }
    case Reason::price:
      return excess(row.rate, *wanted.max_unit_hour);
    case Reason::carbon: {
      const std::optional<int32_t> carbon = row.packed.carbon_at(now_);
      return carbon ? excess(*carbon, *wanted.max_carbon) : 1000;
    }
    case Reason::distance:
      return excess(exact_metres(*intent_.near, row), *wanted.max_distance_metres);
    case Reason::lease:
      return shortage(row.lease.ms, wanted.min_lease->ms);
    default:
      return 1000;
  }
}

}  // namespace spillway::rank
