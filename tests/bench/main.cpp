// spillway_bench [--only PREFIX] [--out FILE] [--strict]
//
// Runs the benches whose <group>.<name> begins with PREFIX (or the reverse), prints a table and
// writes the findings as a list of {name, value, unit, goal, met}. After a partial run the file's
// other entries stay. With --strict an unmet goal makes it exit with 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "bench/bench.h"
#include "cli/word.h"

namespace spillway::bench {
namespace {

std::vector<Bench>& benches() {
  static std::vector<Bench> all;
  return all;
}

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Three significant digits, or all that stand before the point: 0.412, 2.00, 1180, 312400.
std::string digits(double value) {
  if (value == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(3 - before, 0, 6));
}

void print(const std::vector<Finding>& findings) {
  size_t width = 4;
  for (const Finding& finding : findings) width = std::max(width, finding.name.size());
  fmt::print("{:<{}}  {:>10}  {:<10}  {:>12}     {}\n", "name", width, "value", "unit", "goal",
             "spread");
  for (const Finding& finding : findings) {
    fmt::print("{:<{}}  {:>10}  {:<10}  {} {:>10}  {}  {} to {}\n", finding.name, width,
               digits(finding.value), finding.unit, finding.is_at_most ? "≤" : "≥",
               digits(finding.goal), finding.met ? "✓" : "✗", digits(finding.least),
               digits(finding.most));
  }
}

boost::json::object to_json(const Finding& finding) {
  return {{"name", finding.name},
          {"value", finding.value},
          {"unit", finding.unit},
          {"goal", finding.goal},
          {"met", finding.met}};
}

// Boost would write 0.7 as 7E-1; people read this file too.
std::string to_line(const boost::json::object& entry) {
  std::string line = "{";
  for (const boost::json::key_value_pair& field : entry) {
    if (line.size() > 1) line += ", ";
    const boost::json::value& value = field.value();
    line += boost::json::serialize(field.key()) + ": ";
    line += value.is_double() ? fmt::format("{}", value.get_double()) : serialize(value);
  }
  return line + "}";
}

// Entries of an earlier run that this one did not measure.
boost::json::array kept_entries(const std::string& file, const std::vector<Finding>& findings) {
  std::ifstream in(file);
  if (!in) return {};
  std::stringstream text;
  text << in.rdbuf();
  boost::json::error_code error;
  const boost::json::value old = boost::json::parse(text.str(), error);
  boost::json::array kept;
  if (error || !old.is_array()) {
    fmt::print(stderr, "spillway_bench: {} is no list of findings; writing it anew\n", file);
    return kept;
  }
  for (const boost::json::value& entry : old.get_array()) {
    const boost::json::value* name =
        entry.is_object() ? entry.get_object().if_contains("name") : nullptr;
    if (name == nullptr || !name->is_string()) continue;
    const bool is_measured_anew =
        std::any_of(findings.begin(), findings.end(), [name](const Finding& finding) {
          return std::string_view(name->get_string()) == finding.name;
        });
    if (!is_measured_anew) kept.push_back(entry);
  }
  return kept;
}

bool write(const std::string& file, const std::vector<Finding>& findings, bool is_partial) {
  boost::json::array all;
  if (is_partial) all = kept_entries(file, findings);
  for (const Finding& finding : findings) all.push_back(to_json(finding));
  std::sort(all.begin(), all.end(), [](const boost::json::value& a, const boost::json::value& b) {
    return a.at("name").get_string() < b.at("name").get_string();
  });
  std::string text = "[";
  for (size_t i = 0; i < all.size(); ++i) {
    text += (i == 0 ? "\n  " : ",\n  ") + to_line(all[i].get_object());
  }
  text += "\n]\n";
  const std::filesystem::path path(file);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path);
  out << text;
  out.close();
  return out.good();
}

// By the beginning of its name, or by the whole name of something that it measures.
bool is_chosen(const Bench& bench, std::string_view only) {
  const std::string name = bench.group + "." + bench.name;
  return name.starts_with(only) || only.starts_with(name);
}

int run(const std::string& only, const std::string& file, bool is_strict) {
  std::sort(benches().begin(), benches().end(), [](const Bench& a, const Bench& b) {
    return std::tie(a.group, a.name) < std::tie(b.group, b.name);
  });
  std::vector<Finding> findings;
  for (const Bench& bench : benches()) {
    if (!is_chosen(bench, only)) continue;
    fmt::print(stderr, "bench {}.{}\n", bench.group, bench.name);
    Report report(bench.group);
    bench.run(report);
    findings.insert(findings.end(), report.findings().begin(), report.findings().end());
  }
  if (findings.empty()) {
    fmt::print(stderr, "spillway_bench: no bench begins with {}; there are:\n", only);
    for (const Bench& bench : benches()) fmt::print(stderr, "  {}.{}\n", bench.group, bench.name);
    return 2;
  }
  print(findings);
  if (!write(file, findings, !only.empty())) {
    fmt::print(stderr, "spillway_bench: cannot write {}\n", file);
    return 2;
  }
  const bool all_met = std::all_of(findings.begin(), findings.end(),
                                   [](const Finding& finding) { return finding.met; });
  return is_strict && !all_met ? 1 : 0;
}

}  // namespace

double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double percentile(std::vector<double> values, int permille) {
  std::sort(values.begin(), values.end());
  const size_t rank = (values.size() * static_cast<size_t>(permille) + 999) / 1000;
  return values[std::max<size_t>(rank, 1) - 1];
}

void Report::add(std::string_view name, std::vector<double> values, std::string_view unit,
                 double goal, bool is_at_most) {
  Finding finding;
  // A bench may find out something about another part than the one that it is listed under.
  const bool is_whole = name.find('.') != std::string_view::npos;
  finding.name = is_whole ? std::string(name) : fmt::format("{}.{}", group_, name);
  finding.value = median(values);
  finding.unit = unit;
  finding.goal = goal;
  finding.is_at_most = is_at_most;
  finding.met = is_at_most ? finding.value <= goal : finding.value >= goal;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  finding.least = *least;
  finding.most = *most;
  findings_.push_back(std::move(finding));
}

bool add_bench(Bench bench) {
  benches().push_back(std::move(bench));
  return true;
}

}  // namespace spillway::bench

int main(int argc, char** argv) {
  spillway::cli::Program program("Measures what Spillway promises");
  std::string only;
  std::string file = "build/bench/results.json";
  bool is_strict = false;
  const spillway::cli::Word word = program.word();
  word.option("--only", only, "run the benches whose <group>.<name> begins so");
  word.option("--out", file, "write the findings here").show_default();
  word.flag("--strict", is_strict, "exit with 1 when a goal is not met");
  word.run([&] { return spillway::bench::run(only, file, is_strict); });
  return program.read(argc, argv)();
}
