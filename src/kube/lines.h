// Lines: a stream of bytes as the lines that it is made of. A watch is one document a line.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace spillway::kube {

class Lines {
 public:
  // An object of etcd has a megabyte and a half at most; written as JSON it may have more.
  static constexpr size_t k_longest = size_t{8} << 20;

  // Calls `on_line` for every whole line that is not empty, until it answers false. False: it did,
  // or a line is too long; the stream is to be closed.
  bool feed(std::string_view bytes, const std::function<bool(std::string_view)>& on_line) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      if (rest_.size() + part.size() > k_longest) return false;
      if (end == std::string_view::npos) {
        rest_ += part;
        return true;
      }
      bytes.remove_prefix(end + 1);
      if (!take(part, on_line)) return false;
    }
    return true;
  }

 private:
  bool take(std::string_view part, const std::function<bool(std::string_view)>& on_line) {
    if (rest_.empty()) return part.empty() || on_line(part);
    std::string line = std::move(rest_);
    rest_ = {};  // gives the memory of a large one back
    line += part;
    return on_line(line);
  }

  std::string rest_;
};

}  // namespace spillway::kube
