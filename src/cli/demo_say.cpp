#include "cli/demo_say.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <map>
#include <thread>

#include <unistd.h>

#include "cli/safe_text.h"

namespace spillway::cli {
namespace {

constexpr size_t k_width = 80;
constexpr auto k_breath = std::chrono::milliseconds(800);

bool is_terminal() {
  static const bool k_is = ::isatty(STDOUT_FILENO) == 1;
  return k_is;
}

std::string wrapped(std::string_view text, size_t indent) {
  std::string lines;
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' ', text.find_first_not_of(' ')), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && columns(line) + columns(word) > k_width) {
      lines += line + "\n";
      line = std::string(indent, ' ') + std::string(word.substr(word.find_first_not_of(' ')));
    } else {
      line += word;
    }
    text.remove_prefix(end);
  }
  return lines + line + "\n";
}

// "price 75.00 + distance 3.27"
std::string sum_of(const wire::Candidate& candidate) {
  std::string text;
  for (const wire::Term& term : candidate.terms) {
    if (term.amount == 0) continue;
    text += (text.empty() ? "" : " + ") + term.name + " " + usd(term.amount);
  }
  return text;
}

}  // namespace

void say_chapter(std::string_view title) {
  breathe();
  const bool bold = is_terminal() && std::getenv("NO_COLOR") == nullptr;
  say("\n{}{}{}\n", bold ? "\033[1m" : "", title, bold ? "\033[0m" : "");
}

void say_wrapped(std::string_view text, size_t indent) { say("{}", wrapped(text, indent)); }

void breathe() {
  if (is_terminal()) std::this_thread::sleep_for(k_breath);
}

std::string usd(int64_t micros) { return fmt::format("{:.2f}", static_cast<double>(micros) / 1e6); }

std::string sale_text(const wire::QueryAnswer& told, const wire::OfferPage& offers) {
  std::string text = fmt::format("  {:<13}{:<12}{:>5}{:>14}{:>13}{:>11}\n", "SELLER", "A UNIT",
                                 "FREE", "PRICE", "CARBON", "AWAY");
  for (const wire::Candidate& candidate : told.candidates) {
    const auto row = std::find_if(
        offers.offers.begin(), offers.offers.end(),
        [&](const wire::OfferRow& offer) { return offer.offer.id == candidate.offer; });
    const model::Resources shape =
        row == offers.offers.end() ? model::Resources{} : row->offer.shape;
    fmt::format_to(std::back_inserter(text), "  {:<13}{:<12}{:>5}{:>8} USD/h{:>7} g/kWh{:>8} km\n",
                   safe(candidate.provider.text),
                   fmt::format("{} cpu, {}Gi", shape.cpu_millis / 1000, shape.memory_bytes >> 30),
                   candidate.free_units, usd(candidate.rate), candidate.carbon.value_or(0),
                   (candidate.distance_metres.value_or(0) + 500) / 1000);
  }
  return text;
}

std::string choice_text(const wire::QueryAnswer& told) {
  std::string text;
  auto out = std::back_inserter(text);
  const char* mark = "takes";
  for (const wire::Candidate& candidate : told.candidates) {
    fmt::format_to(out, "    {:<6}{:<13}{:>7} USD/h = {}\n", mark, safe(candidate.provider.text),
                   usd(candidate.score), safe(sum_of(candidate)));
    mark = "not";
  }
  if (told.candidates.empty()) fmt::format_to(out, "    waits: {}\n", safe(told.why));
  // Who is ruled out by the same is named together.
  std::map<std::string, std::string> names;
  for (const wire::Verdict& verdict : told.verdicts) {
    if (verdict.ruled_out_by.empty()) continue;
    std::string& list = names[safe(verdict.sentence)];
    list += (list.empty() ? "" : ", ") + safe(owner_of(verdict.offer.text));
  }
  for (const auto& [sentence, list] : names) {
    text += wrapped(fmt::format("    {:<6}{}: {}", "not", list, sentence), 10);
  }
  return text;
}

}  // namespace spillway::cli
