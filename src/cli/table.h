// A table for people: columns aligned, two spaces between them, the free text last. Cells are made
// safe here, so that no verb can forget it.
#pragma once

#include <string>
#include <vector>

namespace spillway::cli {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells);  // one for each column; an empty one shows as "-"
  bool empty() const { return rows_.empty(); }

  // The last column is cut so that no line is wider than `width`; 0: nothing is cut.
  std::string text(size_t width = 0) const;
  // Without titles, tabs between: for cut(1) and awk(1).
  std::string plain() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// "name:   value" lines, the values aligned.
class Facts {
 public:
  void add(std::string name, std::string value);  // an empty value is left out
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> facts_;
};

// Of the terminal that standard output is; 0 when it is none.
size_t terminal_width();

}  // namespace spillway::cli
