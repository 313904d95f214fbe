#include "services/metrics.h"

#include <fmt/format.h>

namespace spillway::services {
namespace {

std::string label_text(const MetricLabels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    if (!text.empty()) text += ',';
    text += name;
    text += "=\"";
    for (const char c : value) {
      if (c == '\n') {
        text += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  return text;
}

void append_head(std::string& out, const std::string& name, const std::string& help,
                 std::string_view type) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void append_sample(std::string& out, std::string_view name, const std::string& labels,
                   const std::string& value) {
  out += name;
  if (!labels.empty()) out += "{" + labels + "}";
  out += " " + value + "\n";
}

}  // namespace

void Histogram::observe(double seconds) {
  size_t i = 0;
  while (i < k_bounds.size() && seconds > k_bounds[i]) ++i;
  ++buckets_[i];
  sum_ += seconds;
  ++count_;
}

Counter& Metrics::counter(std::string_view name, std::string_view help,
                          const MetricLabels& labels) {
  auto& family = counters_[std::string(name)];
  family.help = help;
  return family.by_labels[label_text(labels)];
}

Histogram& Metrics::histogram(std::string_view name, std::string_view help,
                              const MetricLabels& labels) {
  auto& family = histograms_[std::string(name)];
  family.help = help;
  return family.by_labels[label_text(labels)];
}

void Metrics::gauge(std::string_view name, std::string_view help, std::function<double()> read) {
  auto& family = gauges_[std::string(name)];
  family.help = help;
  family.by_labels[""] = std::move(read);
}

std::string Metrics::text() const {
  std::string out;
  for (const auto& [name, family] : counters_) {
    append_head(out, name, family.help, "counter");
    for (const auto& [labels, counter] : family.by_labels) {
      append_sample(out, name, labels, fmt::format("{}", counter.value()));
    }
  }
  for (const auto& [name, family] : gauges_) {
    append_head(out, name, family.help, name.ends_with("_total") ? "counter" : "gauge");
    for (const auto& [labels, read] : family.by_labels) {
      append_sample(out, name, labels, fmt::format("{}", read()));
    }
  }
  for (const auto& [name, family] : histograms_) {
    append_head(out, name, family.help, "histogram");
    for (const auto& [labels, histogram] : family.by_labels) {
      const std::string comma = labels.empty() ? "" : labels + ",";
      uint64_t below = 0;
      for (size_t i = 0; i <= Histogram::k_bounds.size(); ++i) {
        below += histogram.buckets_[i];
        const std::string bound = i < Histogram::k_bounds.size()
                                      ? fmt::format("{}", Histogram::k_bounds[i])
                                      : std::string("+Inf");
        append_sample(out, name + "_bucket", fmt::format("{}le=\"{}\"", comma, bound),
                      fmt::format("{}", below));
      }
      append_sample(out, name + "_sum", labels, fmt::format("{}", histogram.sum_));
      append_sample(out, name + "_count", labels, fmt::format("{}", histogram.count_));
    }
  }
  return out;
}

}  // namespace spillway::services
