#include "cli/offer_text.h"

#include <iterator>

#include "cli/safe_text.h"

namespace spillway::cli {
namespace {

std::string kilometres(int64_t metres) {
  return metres < 10'000 ? fmt::format("{}.{} km", metres / 1000, metres % 1000 / 100)
                         : fmt::format("{} km", metres / 1000);
}

// "price 0.35 + carbon 0.02": the sum that ranked it.
std::string why(const wire::Candidate& candidate) {
  std::string text;
  for (const wire::Term& term : candidate.terms) {
    if (term.amount == 0) continue;
    text += (text.empty() ? "" : " + ") + term.name + " " + micros_to_text(term.amount) +
            (term.estimated ? " (estimated)" : "");
  }
  return text.empty() ? "it costs nothing" : text;
}

std::string price_text(const model::Offer& offer) {
  return fmt::format("{} {} per unit-hour",
                     micros_to_text(model::try_hourly_rate(offer.price, offer.shape).value_or(0)),
                     offer.price.currency.text());
}

std::string place_text(const model::Place& place) {
  std::string text = place.city;
  for (const std::string* part : {&place.region, &place.country}) {
    if (!part->empty()) text += (text.empty() ? "" : ", ") + *part;
  }
  return text;
}

}  // namespace

std::string terms_text(const model::Terms& terms) {
  return fmt::format("lease {}, notice {}, drain {}, grace {}, fence {}", to_text(terms.lease),
                     to_text(terms.notice), to_text(terms.drain), to_text(terms.grace),
                     to_text(terms.fence));
}

std::string labels_text(const model::Labels& labels, std::string_view between) {
  std::string text;
  for (const model::Label& label : labels) {
    if (!text.empty()) text += between;
    text += label.key + "=" + label.value;
  }
  return text;
}

Table ranking_table(const wire::QueryAnswer& told) {
  Table table({{"OFFER"},
               {"COST/H", Align::right},
               {"PRICE/H", Align::right},
               {"FREE", Align::right},
               {"CARBON", Align::right},
               {"AWAY", Align::right},
               {"WHY"}});
  for (const wire::Candidate& candidate : told.candidates) {
    table.add({candidate.offer.text, micros_to_text(candidate.score),
               micros_to_text(candidate.rate), fmt::format("{}", candidate.free_units),
               candidate.carbon ? fmt::format("{} g/kWh", *candidate.carbon) : "",
               candidate.distance_metres ? kilometres(*candidate.distance_metres) : "",
               why(candidate)});
  }
  return table;
}

std::string ranking_notes(const wire::QueryAnswer& told, bool explain) {
  std::string text;
  auto out = std::back_inserter(text);
  if (told.outcome == "ok") {
    fmt::format_to(out, "{} of {} visible offers fit; amounts in {} per unit-hour, best first.\n",
                   told.fitting, told.considered, told.currency.text());
  } else {
    fmt::format_to(out, "{}: {}\n", safe(told.outcome), safe(told.why));
  }
  if (!told.ruled_out.empty()) {
    text += "Ruled out:";
    for (const wire::RuledOut& row : told.ruled_out) {
      fmt::format_to(out, " {} by {},", row.offers, safe(row.reason));
    }
    text.back() = '.';
    text += explain ? "\n" : " --explain says why.\n";
  }
  if (!told.next.empty()) text += "There are more: --limit shows them.\n";
  if (!explain) return text;
  for (const wire::Candidate& candidate : told.candidates) {
    fmt::format_to(out, "\n{}\n", safe(candidate.offer.text));
    for (const wire::Term& term : candidate.terms) {
      fmt::format_to(out, "  {:<10} {:>12}  {}\n", safe(term.name), micros_to_text(term.amount),
                     safe(term.how));
    }
  }
  if (told.verdicts.empty()) return text;
  Table verdicts({{"OFFER"}, {"VERDICT"}, {"WHY"}});
  for (const wire::Verdict& verdict : told.verdicts) {
    const bool fits = verdict.ruled_out_by.empty();
    verdicts.add({verdict.offer.text, fits ? "fits" : verdict.ruled_out_by,
                  fits ? "cost " + micros_to_text(verdict.score) : verdict.sentence});
  }
  return text + "\n" + verdicts.text(terminal_width());
}

std::string paid_note(const wire::PaidUnits& paid, const model::Contract& contract,
                      const Clock& clock) {
  const std::string currency = contract.price.currency.text();
  const std::string meanwhile = paid.marginal_rate == 0
                                    ? "nothing more"
                                    : fmt::format("up to {} {} an hour for what is used",
                                                  micros_to_text(paid.marginal_rate), currency);
  return fmt::format(
      "You have {} of {} already, in contract {}: its minimum term ends {}; until then each costs "
      "{}, "
      "after that {} {} an hour.\n",
      paid.units, safe(paid.offer.text), safe(paid.contract.text), clock(paid.until), meanwhile,
      micros_to_text(contract.rate), currency);
}

Table offers_table(const wire::OfferPage& page, const Clock& clock) {
  Table table({{"OFFER"}, {"STATE"}, {"PRICE/H", Align::right}, {"UNTIL"}, {"POOL"}, {"SHAPE"}});
  for (const wire::OfferRow& row : page.offers) {
    const auto rate = model::try_hourly_rate(row.offer.price, row.offer.shape);
    table.add({row.offer.id.text, row.withdrawn ? "withdrawn" : "on sale",
               rate ? micros_to_text(*rate) + " " + row.offer.price.currency.text() : "",
               clock(row.offer.until), row.offer.pool.text, to_text(row.offer.shape)});
  }
  return table;
}

std::string offer_text(const wire::OfferRow& row, const Clock& clock) {
  const model::Offer& offer = row.offer;
  Facts facts;
  facts.add("offer", offer.id.text);
  facts.add("provider", row.provider.text);
  facts.add("state", row.withdrawn ? "withdrawn" : "on sale");
  facts.add("shape", to_text(offer.shape));
  facts.add("price", price_text(offer));
  facts.add("minimum term",
            offer.price.minimum_term.ms > 0 ? to_text(offer.price.minimum_term) : "");
  facts.add("place", place_text(offer.place));
  facts.add("carbon", offer.energy ? fmt::format("{} gCO2e/kWh, says {}", offer.energy->carbon_now,
                                                 offer.energy->provenance.source)
                                   : "");
  facts.add("labels", labels_text(offer.labels, ", "));
  facts.add("terms", terms_text(offer.terms));
  facts.add("guests are held to contracts", offer.enforcement == model::Enforcement::unknown
                                                ? std::string()
                                                : std::string(to_text(offer.enforcement)));
  facts.add("until", clock(offer.until));
  return facts.text();
}

}  // namespace spillway::cli
