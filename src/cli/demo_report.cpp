#include "cli/demo_report.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "cli/demo_say.h"
#include "cli/safe_text.h"

namespace spillway::cli {
namespace {

constexpr size_t k_name_width = 28;

std::string hours_text(Duration time) {
  return fmt::format("{:.2f}", static_cast<double>(time.ms) / 3.6e6);
}

std::string wait_text(std::vector<Duration> waits, bool longest) {
  if (waits.empty()) return "-";
  std::sort(waits.begin(), waits.end());
  return clock_text(longest ? waits.back() : waits[waits.size() / 2]);
}

std::string result_row(std::string_view name, const std::array<std::string, 3>& cells) {
  return fmt::format("  {:<{}}{:>15}{:>15}{:>15}\n", name, k_name_width, cells[0], cells[1],
                     cells[2]);
}

// From the contract to the node, on the real clock. None: it was never Ready.
std::optional<Duration> made_in(const RunSeen& run, const UnitNode& unit) {
  const auto begun = run.begun.find(unit.contract);
  if (!unit.first_ready || begun == run.begun.end()) return std::nullopt;
  return *unit.first_ready - begun->second;
}

std::string seconds_text(std::optional<Duration> time) {
  return time ? fmt::format("{:.1f} s", static_cast<double>(time->ms) / 1e3) : "-";
}

int64_t were_ready(const RunSeen& run) {
  return std::count_if(run.view.units.begin(), run.view.units.end(),
                       [](const UnitNode& unit) { return unit.first_ready.has_value(); });
}

std::string median_made_in(const RunSeen& run) {
  std::vector<Duration> all;
  for (const UnitNode& unit : run.view.units) {
    if (const auto one = made_in(run, unit)) all.push_back(*one);
  }
  if (all.empty()) return "-";
  std::sort(all.begin(), all.end());
  return seconds_text(all[all.size() / 2]);
}

// Columns closer together: ours are 80.
std::string squeezed(const std::string& line) {
  std::string text;
  const size_t begin = std::min(line.find_first_not_of(' '), line.size());
  size_t blanks = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    blanks = line[i] == ' ' ? blanks + 1 : 0;
    if (i < begin || blanks <= 2) text += line[i];
  }
  return text;
}

// For a terminal without the sign of multiplication.
std::string in_letters(std::string line) {
  constexpr std::string_view k_times = "×";
  for (size_t at = 0; (at = line.find(k_times, at)) != std::string::npos; ++at) {
    line.replace(at, k_times.size(), "x");
  }
  return line;
}

const char* sign_of(Deed deed) {
  switch (deed) {
    case Deed::bought:
      return "+";
    case Deed::refused:
      return "!";
    case Deed::gave_back:
      return "-";
  }
  return "";
}

}  // namespace

std::string result_table(const Seen& seen, const Spend& always) {
  const auto of_each = [&](std::string_view name, auto read) {
    return result_row(name, {read(seen.runs[0].spend), read(seen.runs[1].spend), read(always)});
  };
  const auto of_runs = [&](std::string_view name, auto read) {
    return result_row(name, {read(seen.runs[0]), read(seen.runs[1]), std::string("-")});
  };
  std::string text = result_row("", {seen.runs[0].name, seen.runs[1].name, "always on"});
  for (const OnSale& sold : seen.on_sale) {
    text += of_each("node-hours of " + sold.seller, [&](const Spend& spend) {
      const auto use = spend.sellers.find(sold.seller);
      return hours_text(use == spend.sellers.end() ? Duration() : use->second.time);
    });
  }
  text += of_each("node-hours", [](const Spend& spend) { return hours_text(spend.in_all().time); });
  text += of_each("USD", [](const Spend& spend) { return usd(spend.in_all().money); });
  text += of_each("g CO2e, as declared", [](const Spend& spend) {
    return fmt::format("{:.1f}", static_cast<double>(spend.in_all().carbon_mg) / 1e3);
  });
  text += of_runs("pods that waited for a node",
                  [](const RunSeen& run) { return std::to_string(run.view.waits.size()); });
  text += of_runs("their wait, median",
                  [](const RunSeen& run) { return wait_text(run.view.waits, false); });
  text += of_runs("their wait, longest",
                  [](const RunSeen& run) { return wait_text(run.view.waits, true); });
  text += of_runs("virtual nodes, Ready",
                  [](const RunSeen& run) { return std::to_string(were_ready(run)); });
  text += of_runs("bought to Ready, real time", median_made_in);
  text += of_runs("guests at sellers, at most",
                  [](const RunSeen& run) { return std::to_string(run.view.most_guests); });
  return text;
}

std::string units_text(const RunSeen& run, FastTime time) {
  const auto row = [](std::string_view id, std::string_view seller, std::string_view made,
                      std::string_view guests, std::string_view gone) {
    return fmt::format("  {:<42}{:<8}{:>9}{:>8}{:>8}\n", id, seller, made, guests, gone);
  };
  std::string text = row("provider id", "from", "Ready in", "guests", "gone");
  for (const UnitNode& unit : run.view.units) {
    text += row(safe(unit.provider_id.empty() ? unit.name : unit.provider_id), safe(unit.seller),
                seconds_text(made_in(run, unit)), std::to_string(unit.most_guests),
                unit.gone ? clock_text(time.since_begun(*unit.gone)) : "-");
  }
  return text;
}

std::string decisions_text(const RunSeen& run) {
  std::string text;
  for (const Noted& noted : run.view.decided) {
    text += wrapped(fmt::format("  {}  {} {} {:<7}{}", clock_text(noted.at), sign_of(noted.deed),
                                noted.units, safe(seller_of(noted.group)), safe(noted.why)),
                    20);
  }
  return text;
}

std::string explanation_text(std::string_view told, const Look& look) {
  constexpr size_t k_hanging = 12;  // what goes on below
  std::string text;
  told = told.substr(0, told.find("\ndecided"));
  while (!told.empty()) {
    const size_t end = std::min(told.find('\n'), told.size());
    std::string line = squeezed(safe(told.substr(0, end)));
    if (!look.blocks) line = in_letters(line);
    text += wrapped("  " + line, k_hanging);
    told.remove_prefix(std::min(end + 1, told.size()));
  }
  return text;
}

}  // namespace spillway::cli
