#include "cli/demo_chart.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

#include "cli/demo_load.h"
#include "cli/safe_text.h"

namespace spillway::cli {
namespace {

constexpr size_t k_label_width = 22;
constexpr size_t k_cell_width = 28;
constexpr int64_t k_spend_bar = 12;
constexpr int32_t k_most_units = 4;  // of a seller

enum class Tint : int { none = 0, red = 31, green = 32, yellow = 33, grey = 90 };

// Text with what it takes on the screen, which colours do not count in.
class Cell {
 public:
  explicit Cell(const Look& look) : look_(look) {}

  Cell& put(std::string_view text, Tint tint = Tint::none) {
    width_ += columns(text);
    const bool tinted = look_.colour && tint != Tint::none && !text.empty();
    text_ +=
        tinted ? fmt::format("\033[{}m{}\033[0m", static_cast<int>(tint), text) : std::string(text);
    return *this;
  }
  Cell& bar(int64_t length, std::string_view block, std::string_view letter, Tint tint) {
    std::string text;
    for (int64_t i = 0; i < length; ++i) text += look_.blocks ? block : letter;
    return put(text, tint);
  }
  Cell& fill(size_t width) {
    if (width > width_) put(std::string(width - width_, ' '));
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  const Look& look_;
  std::string text_;
  size_t width_ = 0;
};

template <class Draw>
std::string chart_row(const Look& look, std::string_view label, const Seen& seen, Draw draw) {
  Cell cell(look);
  cell.put("  ").put(label);
  size_t width = k_label_width;
  for (const RunSeen& run : seen.runs) {
    draw(cell.fill(width), run);
    width += k_cell_width;
  }
  return cell.text();
}

std::string load_row(const Seen& seen, const Look& look) {
  const int32_t wanted = replicas_at(seen.at);
  Cell cell(look);
  cell.put(fmt::format("  {} of {}", clock_text(seen.at), clock_text(k_load_counted)));
  cell.fill(k_label_width).put(fmt::format("load: {:>2} pods ", wanted));
  cell.bar(wanted, "█", "#", Tint::yellow).bar(k_most_replicas - wanted, "·", ".", Tint::grey);
  return cell.text();
}

void draw_pods(Cell& cell, const RunSeen& run) {
  cell.bar(run.view.placed, "█", "#", Tint::green).bar(run.view.waiting, "▒", "o", Tint::red);
  cell.put(fmt::format(" {}", run.view.placed));
  if (run.view.waiting > 0) cell.put(fmt::format(", {} wait", run.view.waiting));
}

int32_t held_of(const RunSeen& run, const std::string& seller) {
  const auto found = run.spend.sellers.find(seller);
  return found == run.spend.sellers.end() ? 0 : found->second.held;
}

// Full: its node is Ready. Half: it is being made, or drained.
void draw_units(Cell& cell, const RunSeen& run, const OnSale& sold) {
  const int32_t held = held_of(run, sold.seller);
  int32_t ready = 0;
  int32_t guests = 0;
  for (const UnitNode& unit : run.view.units) {
    if (unit.seller != sold.seller || unit.gone) continue;
    ready += unit.is_ready() ? 1 : 0;
    guests += unit.guests;
  }
  for (int32_t i = 0; i < sold.units; ++i) {
    if (i < ready) {
      cell.bar(2, "█", "#", Tint::green);
    } else if (i < held) {
      cell.bar(2, "▒", "o", Tint::yellow);
    } else {
      cell.bar(2, "·", ".", Tint::grey);
    }
    cell.put(" ");
  }
  for (int32_t i = sold.units; i < k_most_units; ++i) cell.put("   ");
  if (guests > 0) cell.put(fmt::format(" {} guest{}", guests, guests == 1 ? "" : "s"));
}

std::string node_row(const UnitNode& unit) {
  return fmt::format("  {:<36}{:<10}{:<11}{:<7}{:>6}", safe(unit.name), safe(unit.seller),
                     fabric::to_text(unit.step), unit.is_ready() ? "yes" : "no", unit.guests);
}

void add_nodes(std::vector<std::string>& lines, const RunSeen& run, size_t most) {
  std::vector<const UnitNode*> there;
  for (const UnitNode& unit : run.view.units) {
    if (!unit.gone) there.push_back(&unit);
  }
  const size_t full = lines.size() + most;
  const size_t shown = there.size() <= most ? there.size() : most - 1;
  for (size_t i = 0; i < shown; ++i) lines.push_back(node_row(*there[i]));
  if (shown < there.size()) lines.push_back(fmt::format("  and {} more", there.size() - shown));
  lines.resize(full);
}

}  // namespace

std::string clock_text(Duration since_begun) {
  const int64_t whole = std::max<int64_t>(since_begun.ms, 0) / 1000;
  return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
}

std::string usd(int64_t micros) { return fmt::format("{:.2f}", static_cast<double>(micros) / 1e6); }

Look look_of_environment() {
  const auto set = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = set(name);
  }
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool is_utf8 =
      locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  const bool is_dumb = set("TERM").empty() || set("TERM") == "dumb";
  return {is_utf8, set("NO_COLOR").empty() && !is_dumb};
}

std::vector<std::string> chart(const Seen& seen, const Look& look, size_t node_lines) {
  int64_t most = 1;
  for (const RunSeen& run : seen.runs) most = std::max(most, run.spend.in_all().money);
  std::vector<std::string> lines{load_row(seen, look), std::string()};
  lines.push_back(
      chart_row(look, "", seen, [](Cell& cell, const RunSeen& run) { cell.put(run.title()); }));
  lines.push_back(chart_row(look, "pods", seen, draw_pods));
  lines.emplace_back();
  for (const OnSale& sold : seen.on_sale) {
    const std::string label = fmt::format("{:<6}{:>7} USD/h", sold.seller, usd(sold.rate));
    lines.push_back(chart_row(
        look, label, seen, [&](Cell& cell, const RunSeen& run) { draw_units(cell, run, sold); }));
  }
  lines.emplace_back();
  lines.push_back(chart_row(look, "USD/h now", seen, [](Cell& cell, const RunSeen& run) {
    cell.put(fmt::format("{:>7}", usd(run.spend.rate)));
  }));
  lines.push_back(chart_row(look, "USD spent", seen, [most](Cell& cell, const RunSeen& run) {
    const int64_t money = run.spend.in_all().money;
    cell.put(fmt::format("{:>7} ", usd(money)));
    cell.bar(k_spend_bar * money / most, "█", "#", Tint::yellow);
  }));
  lines.push_back(chart_row(look, "g CO2e", seen, [](Cell& cell, const RunSeen& run) {
    cell.put(fmt::format("{:>7.1f}", static_cast<double>(run.spend.in_all().carbon_mg) / 1e3));
  }));
  if (node_lines == 0) return lines;
  lines.emplace_back();
  lines.push_back(fmt::format("  {:<36}{:<10}{:<11}{:<7}{:>6}",
                              "virtual nodes (" + seen.runs[1].name + ")", "provider", "step",
                              "Ready", "guests"));
  add_nodes(lines, seen.runs[1], node_lines);
  return lines;
}

std::string plain_titles(const Seen& seen) {
  std::string text = fmt::format("{:>12}", "");
  for (const RunSeen& run : seen.runs) text += fmt::format(" {:<32}", run.title());
  text += fmt::format("\n{:>7}{:>5}", "TIME", "LOAD");
  for (size_t i = 0; i < seen.runs.size(); ++i) {
    text += fmt::format("{:>4}{:>5}", "RUN", "WAIT");
    for (const OnSale& sold : seen.on_sale) {
      text += fmt::format("{:>{}}", sold.seller, sold.seller.size() + 1);
    }
    text += fmt::format("{:>8}", "USD");
  }
  return text;
}

std::string plain_line(const Seen& seen) {
  std::string text = fmt::format("{:>7}{:>5}", clock_text(seen.at), replicas_at(seen.at));
  for (const RunSeen& run : seen.runs) {
    text += fmt::format("{:>4}{:>5}", run.view.placed, run.view.waiting);
    for (const OnSale& sold : seen.on_sale) {
      text += fmt::format("{:>{}}", held_of(run, sold.seller), sold.seller.size() + 1);
    }
    text += fmt::format("{:>8}", usd(run.spend.in_all().money));
  }
  return text;
}

}  // namespace spillway::cli
