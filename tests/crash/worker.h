// The process that is killed.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::crash {

inline constexpr int k_pools = 3;

// What it tells through the pipe: written in one piece, so never read in part.
struct Message {
  enum class Kind : int32_t { acknowledged, conflict, failed };
  Kind kind;
  int32_t number;  // of the contract
  int64_t event;
  char text[240];
};

// Commits contracts `first`, `first` + 1, … to the file until it is killed.
[[noreturn]] void work(const std::string& path, uint64_t seed, int first, int pipe);

}  // namespace spillway::crash
