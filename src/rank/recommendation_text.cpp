// to_text(Recommendation): law 7 for people. As rank/explanation.cpp, free text comes last on a
// line.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "rank/recommend.h"

namespace spillway::rank {
namespace {

constexpr size_t k_widest_term = 10;  // "round trip"

std::string six_places(int64_t micros) {
  return fmt::format("{}.{:06}", micros / 1'000'000, micros % 1'000'000);
}

size_t widest_offer(const Recommendation& told) {
  size_t width = k_widest_term + 2;
  for (const Choice& choice : told.choices) width = std::max(width, choice.offer.text.size());
  for (const Excluded& excluded : told.excluded) {
    width = std::max(width, excluded.offer.text.size());
  }
  return width;
}

void write_tier(std::string& text, const TierVerdict& tier, size_t number, size_t width) {
  auto out = std::back_inserter(text);
  const std::string step =
      tier.step > 1 ? fmt::format("  in steps of {}: {}", micros_to_text(tier.step), tier.counted)
                    : std::string();
  fmt::format_to(out, "      {:<{}}  {:>12}{}\n", fmt::format("tier {}", number), width,
                 six_places(tier.exact), step);
  for (const Term& term : tier.terms) {
    fmt::format_to(out, "        {:<{}}  {:>12}  {}{}\n", term.name, width - 2,
                   six_places(term.amount), term.how, term.estimated ? "  (estimated)" : "");
  }
}

void write_choice(std::string& text, const Choice& choice, size_t place, size_t width) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>4}  {:<{}}  {:>3} {}{}\n", place, choice.offer.text, width, choice.units,
                 choice.units == 1 ? "unit" : "units",
                 choice.fewer.empty() ? "" : "; fewer than wanted: " + choice.fewer);
  for (size_t i = 0; i < choice.tiers.size(); ++i) {
    write_tier(text, choice.tiers[i], i + 1, width);
  }
}

}  // namespace

std::string to_text(const Recommendation& told) {
  const size_t width = widest_offer(told);
  std::string text =
      fmt::format("{} of {} offers may be taken{}; {} for one unit and {}\n", told.choices.size(),
                  told.choices.size() + told.excluded.size(),
                  told.workload_class.empty() ? "" : " for class " + told.workload_class,
                  told.currency.text(), to_text(told.expect.time));
  for (size_t i = 0; i < told.choices.size(); ++i) {
    write_choice(text, told.choices[i], i + 1, width);
  }
  if (!told.excluded.empty()) text += "\nruled out\n";
  for (const Excluded& excluded : told.excluded) {
    fmt::format_to(std::back_inserter(text), "      {:<{}}  {:<11}  {}\n", excluded.offer.text,
                   width, to_text(excluded.why.bar), excluded.why.sentence);
  }
  return text;
}

std::string to_text(const Choice& choice, const Currency& currency) {
  std::string text = fmt::format("{}, {} {}", choice.offer.text, choice.units,
                                 choice.units == 1 ? "unit" : "units");
  for (const TierVerdict& tier : choice.tiers) {
    text += fmt::format("; {}", to_text(Money{tier.exact, currency}));
    const char* before = " = ";
    for (const Term& term : tier.terms) {
      text += fmt::format("{}{} {}{}", before, term.name, micros_to_text(term.amount),
                          term.estimated ? " (estimated)" : "");
      before = " + ";
    }
  }
  return text;
}

}  // namespace spillway::rank
