// An intent from a file, from options, or from both: what an option says counts before the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/word.h"
#include "model/intent.h"

namespace spillway::cli {

struct IntentOptions {
  std::string file;
  std::string cpu;
  std::string memory;
  std::string storage;
  std::string pods;
  std::vector<std::string> gpus;
  std::string currency;
  int32_t units = 0;
  std::vector<std::string> countries;
  std::vector<std::string> providers;
  std::vector<std::string> labels;  // key=value
  std::string near;
  std::string max_price;
  int32_t max_carbon = -1;
  std::string max_distance;  // kilometres
  std::string min_lease;
  std::string carbon_worth;
  std::string distance_worth;
};

void add_intent_options(Word verb, IntentOptions& options);
Result<model::Intent> intent_from(const IntentOptions& options);

}  // namespace spillway::cli
