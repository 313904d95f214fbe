#include "cli/intent_options.h"

#include "base/quantity.h"
#include "base/text.h"
#include "cli/files.h"
#include "cli/parse.h"
#include "model/documents.h"

namespace spillway::cli {
namespace {

// Reads `text` into `field` unless it is empty; errors name the option.
template <class Read, class T>
Status set(std::string_view option, const std::string& text, const Read& read, T& field) {
  if (text.empty()) return {};
  auto value = read(text);
  if (!value) return tl::unexpected(of_option(option, value.error()));
  field = *value;
  return {};
}

Result<int64_t> cores(const std::string& text) { return parse_quantity(text, QuantityStep::milli); }
Result<int64_t> pieces(const std::string& text) {
  return parse_quantity(text, QuantityStep::whole);
}
Result<int64_t> amount(const std::string& text) { return parse_micros(text); }
Result<Duration> duration(const std::string& text) { return parse_duration(text); }
Result<int64_t> metres(const std::string& kilometres) {
  return parse_micros(kilometres).map([](int64_t micros) { return micros / 1000; });
}

Status set_shape(const IntentOptions& options, model::Resources& shape) {
  SPILLWAY_TRY(set("--cpu", options.cpu, cores, shape.cpu_millis));
  SPILLWAY_TRY(set("--memory", options.memory, pieces, shape.memory_bytes));
  SPILLWAY_TRY(set("--storage", options.storage, pieces, shape.storage_bytes));
  SPILLWAY_TRY(set("--pods", options.pods, pieces, shape.pods));
  for (const std::string& gpu : options.gpus) {
    const auto count = parse_count("--gpu", gpu);
    if (!count) return tl::unexpected(count.error());
    put_count(shape.gpus, *count);
  }
  return {};
}

Status set_constraints(const IntentOptions& options, model::Constraints& constraints) {
  if (!options.countries.empty()) constraints.countries = options.countries;
  if (!options.providers.empty()) {
    constraints.providers.clear();
    for (const std::string& name : options.providers) constraints.providers.emplace_back(name);
  }
  for (const std::string& text : options.labels) {
    const auto labels = parse_labels(text);
    if (!labels) return tl::unexpected(of_option("--label", labels.error()));
    for (const model::Label& label : *labels) {
      constraints.labels.push_back({label.key, model::Operator::in, {label.value}});
    }
  }
  SPILLWAY_TRY(set("--max-price", options.max_price, amount, constraints.max_unit_hour));
  SPILLWAY_TRY(
      set("--max-distance", options.max_distance, metres, constraints.max_distance_metres));
  SPILLWAY_TRY(set("--min-lease", options.min_lease, duration, constraints.min_lease));
  if (options.max_carbon >= 0) constraints.max_carbon = options.max_carbon;
  return {};
}

Status set_worth(const IntentOptions& options, model::Worth& worth) {
  SPILLWAY_TRY(set("--carbon-worth", options.carbon_worth, amount, worth.carbon_kg));
  return set("--distance-worth", options.distance_worth, amount, worth.distance_1000km);
}

}  // namespace

void add_intent_options(Word verb, IntentOptions& options) {
  const auto text = [&verb](const char* name, std::string& field, const char* type,
                            const char* help) {
    verb.option(name, field, help).type_name(type).group("What is wanted");
  };
  text("-f,--file", options.file, "FILE", "An intent as YAML; options below count before it");
  text("--cpu", options.cpu, "CORES", "Of one unit: 4, 500m");
  text("--memory", options.memory, "BYTES", "Of one unit: 16Gi");
  text("--storage", options.storage, "BYTES", "Of one unit, ephemeral: 100Gi");
  text("--pods", options.pods, "N", "Of one unit");
  verb.option("--gpu", options.gpus, "Of one unit, by model: nvidia-a100=2; may be repeated")
      .type_name("MODEL=N")
      .may_repeat()
      .group("What is wanted");
  verb.option("--units", options.units, "How many units")
      .in_range(1, 1'000'000)
      .group("What is wanted");
  text("--currency", options.currency, "CODE", "Only offers in this one (EUR)");
  verb.option("--country", options.countries, "One of these: IT; may be repeated")
      .may_repeat()
      .group("What is wanted");
  verb.option("--provider", options.providers, "One of these; may be repeated")
      .may_repeat()
      .group("What is wanted");
  verb.option("--label", options.labels, "The offer has it: key=value; may be repeated")
      .may_repeat()
      .group("What is wanted");
  text("--near", options.near, "LAT,LON", "Distances are measured from here: 45.46,9.19");
  text("--max-price", options.max_price, "AMOUNT", "Of a unit-hour: 2.50");
  verb.option("--max-carbon", options.max_carbon, "gCO2e per kWh")
      .not_negative()
      .group("What is wanted");
  text("--max-distance", options.max_distance, "KM", "Kilometres from --near");
  text("--min-lease", options.min_lease, "TIME", "The lease is at least this long: 30m");
  text("--carbon-worth", options.carbon_worth, "AMOUNT", "What a kilogram of CO2e is worth: 0.10");
  text("--distance-worth", options.distance_worth, "AMOUNT",
       "What a thousand kilometres are worth, per unit-hour");
}

Result<model::Intent> intent_from(const IntentOptions& options) {
  model::Intent intent;
  if (!options.file.empty()) {
    const auto text = read_file(options.file);
    if (!text) return tl::unexpected(text.error());
    auto read = model::intent_from_yaml(*text, options.file);
    if (!read) return read;
    intent = std::move(*read);
  }
  SPILLWAY_TRY(set_shape(options, intent.shape));
  SPILLWAY_TRY(set_constraints(options, intent.constraints));
  SPILLWAY_TRY(set_worth(options, intent.worth));
  SPILLWAY_TRY(set(
      "--currency", options.currency, [](const std::string& text) { return parse_currency(text); },
      intent.currency));
  SPILLWAY_TRY(set(
      "--near", options.near, [](const std::string& text) { return parse_place(text); },
      intent.near));
  if (options.units > 0) intent.units = options.units;
  // Whoever only looks around asks for the least that can run anything.
  if (intent.shape.is_zero()) intent.shape.cpu_millis = 1;
  SPILLWAY_TRY(validate(intent));
  return intent;
}

}  // namespace spillway::cli
