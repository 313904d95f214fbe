// The model against what was recorded of the real Cluster Autoscaler (tests/model/): the same load,
// and at each instant at which somebody looked the same nodes in every group, give or take one scan
// interval.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <span>
#include <sstream>

#include <gtest/gtest.h>

#include "scaler_replay.h"

namespace spillway::scaler {
namespace {

constexpr double k_least_percent = 95;  // [ca.model_agreement_pct]

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Sample {
  double seconds = 0;
  Counts counts;
};

struct Recorded {
  Version version = Version::v1_30;
  Expander expander = Expander::least_waste;
  std::vector<std::string> groups;
  std::vector<Sample> samples;
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

Recorded read_record(const std::filesystem::path& path) {
  Recorded record;
  std::istringstream in(read_file(path));
  std::string line;
  std::getline(in, line);
  if (line.find("-1.35") != std::string::npos) record.version = Version::v1_35;
  if (line.find("=price") != std::string::npos) record.expander = Expander::price;
  std::getline(in, line);
  record.groups = split(line);
  record.groups.erase(record.groups.begin());
  record.groups.resize(record.groups.size() - 2);  // pods that run, and that wait
  while (std::getline(in, line)) {
    const auto words = split(line);
    Sample sample{std::stod(words[0]), {}};
    for (size_t i = 0; i < record.groups.size(); ++i) {
      sample.counts.push_back(std::stoi(words[i + 1]));
    }
    record.samples.push_back(std::move(sample));
  }
  return record;
}

int sum_of(const Counts& counts) { return std::accumulate(counts.begin(), counts.end(), 0); }

// What the model had within one scan interval of the sample, before and after.
std::span<const Counts> around(const Sample& sample, const std::vector<Counts>& seen,
                               Duration interval) {
  const auto at = static_cast<int64_t>(sample.seconds * 1000) / k_look_every.ms;
  const int64_t reach = interval.ms / k_look_every.ms;
  const int64_t last = std::ssize(seen) - 1;
  const auto first = static_cast<size_t>(std::clamp<int64_t>(at - reach, 0, last));
  const auto end = static_cast<size_t>(std::clamp<int64_t>(at + reach, 0, last)) + 1;
  return {seen.data() + first, end - first};
}

bool has_as_many(std::span<const Counts> seen, int nodes) {
  return std::any_of(seen.begin(), seen.end(),
                     [nodes](const Counts& one) { return sum_of(one) == nodes; });
}

std::string to_words(const Counts& counts) {
  std::string words;
  for (const int count : counts) words += " " + std::to_string(count);
  return words;
}

// How many of a hundred instants.
struct Agreement {
  double nodes = 0;   // as many
  double groups = 0;  // and as many in each group
};

Agreement compare(const Recorded& record, const Node& load, bool tells) {
  Replay replay(load, options_of(load, record.version, record.expander), 1);
  EXPECT_EQ(replay.groups(), record.groups);
  const std::vector<Counts> seen = replay.run();
  const Duration interval = flag(load, "scan-interval", seconds(10));
  const double share = 100.0 / static_cast<double>(record.samples.size());
  Agreement agreement;
  for (const Sample& sample : record.samples) {
    const auto near = around(sample, seen, interval);
    const bool in_all = has_as_many(near, sum_of(sample.counts));
    const bool in_each = std::find(near.begin(), near.end(), sample.counts) != near.end();
    agreement.nodes += in_all ? share : 0;
    agreement.groups += in_each ? share : 0;
    if (tells) {
      const auto at = static_cast<size_t>(sample.seconds * 10);
      std::cout << sample.seconds << (in_all ? " " : " !") << (in_each ? "  " : "! ") << "real"
                << to_words(sample.counts) << " model"
                << to_words(seen[std::min(at, seen.size() - 1)]) << "\n";
    }
  }
  return agreement;
}

TEST(ScalerAgreement, TheModelHasTheNodesThatTheRealOneHad) {
  const auto load = model::parse_json(read_file("tests/model/load.json"));
  ASSERT_TRUE(load) << load.error().message();
  const char* elsewhere = std::getenv("SPILLWAY_MODEL_RECORDS");
  const std::filesystem::path folder = elsewhere ? elsewhere : "tests/model/recorded";
  size_t records = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".csv") continue;
    records += 1;
    const Recorded record = read_record(entry.path());
    const Agreement agreement = compare(record, *load, elsewhere != nullptr);
    std::cout << entry.path().filename().string() << ": ca.model_agreement_pct " << agreement.nodes
              << ", in each group " << agreement.groups << ", of " << record.samples.size()
              << " instants\n";
    EXPECT_GE(agreement.nodes, k_least_percent) << entry.path();
  }
  EXPECT_GT(records, 0u);
}

}  // namespace
}  // namespace spillway::scaler
