// What real Liqo did with its objects: tests/data/liqo/, written by tests/e2e/record_liqo. Tests
// run in the repository's root.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "model/json.h"
#include "model/tree.h"

namespace spillway {

// One version of one object.
struct Recorded {
  std::string step;   // "01-peer"
  std::string side;   // "buyer" or "seller"
  std::string event;  // "ADDED", "MODIFIED" or "DELETED"
  model::Node object;

  std::string_view kind() const { return model::text_at(object, {"kind"}); }
  std::string_view name() const { return model::text_at(object, {"metadata", "name"}); }
};

inline std::vector<Recorded> read_recording(const std::filesystem::path& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto list = model::parse_json(text, path.string());
  std::vector<Recorded> found;
  EXPECT_TRUE(list) << (list ? "" : list.error().message());
  if (!list) return found;
  for (const model::Node& item : list->items) {
    found.push_back({path.stem().string(), std::string(model::text_at(item, {"side"})),
                     std::string(model::text_at(item, {"event"})), *item.find("object")});
  }
  return found;
}

// All steps, in their order.
inline const std::vector<Recorded>& recordings() {
  static const std::vector<Recorded> k_all = [] {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator("tests/data/liqo")) {
      paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    std::vector<Recorded> all;
    for (const auto& path : paths) {
      auto some = read_recording(path);
      std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
  }();
  return k_all;
}

// The versions of one object within one step.
inline std::vector<model::Node> versions(std::string_view step, std::string_view side,
                                         std::string_view kind, std::string_view name) {
  std::vector<model::Node> found;
  for (const Recorded& one : recordings()) {
    if (one.step == step && one.side == side && one.kind() == kind && one.name() == name) {
      found.push_back(one.object);
    }
  }
  EXPECT_FALSE(found.empty()) << "no " << kind << " " << name << " in " << step;
  if (found.empty()) found.emplace_back();
  return found;
}

}  // namespace spillway
