#include "cli/table.h"

#include <algorithm>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/safe_text.h"

namespace spillway::cli {
namespace {

constexpr size_t k_gap = 2;
constexpr size_t k_least_cut = 12;  // a column is never cut below this: then lines wrap

void append_padded(std::string& line, const std::string& cell, size_t width, Align align) {
  const size_t used = columns(cell);
  const std::string padding(width > used ? width - used : 0, ' ');
  line += align == Align::right ? padding + cell : cell + padding;
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  SPILLWAY_CHECK(cells.size() == columns_.size(), "a row has as many cells as there are columns");
  for (std::string& cell : cells) cell = cell.empty() ? "-" : safe(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(size_t width) const {
  std::vector<size_t> widths;
  size_t before_last = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = columns(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, columns(row[i]));
    widths.push_back(widest);
    if (i + 1 < columns_.size()) before_last += widest + k_gap;
  }
  if (width > 0 && before_last + widths.back() > width) {
    const size_t left = width > before_last ? width - before_last : 0;
    widths.back() = std::min(widths.back(), std::max(left, k_least_cut));
  }
  std::string text;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) line.append(k_gap, ' ');
      append_padded(line, cut(cell_of(i), widths[i]), widths[i], columns_[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](size_t i) { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&row](size_t i) { return row[i]; });
  return text;
}

std::string Table::plain() const {
  std::string text;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : "\t") + row[i];
    text += '\n';
  }
  return text;
}

void Facts::add(std::string name, std::string value) {
  if (value.empty()) return;
  facts_.emplace_back(std::move(name), safe(value));
}

std::string Facts::text() const {
  size_t widest = 0;
  for (const auto& fact : facts_) widest = std::max(widest, columns(fact.first));
  std::string text;
  for (const auto& [name, value] : facts_) {
    append_padded(text, name, widest + k_gap, Align::left);
    text += value + "\n";
  }
  return text;
}

size_t terminal_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace spillway::cli
