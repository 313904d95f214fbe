// Bytes that must not stay behind in memory: wiped when they are dropped, moved and never copied by
// accident, and without a way to print them. What takes a copy of view() owns that copy's fate.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace spillway::pki {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string_view bytes);
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();

  static Secret of_size(size_t size);  // zeroes, to be filled in through data()

  std::string_view view() const { return {bytes_.get(), size_}; }
  char* data() { return bytes_.get(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void shorten(size_t size);  // to at most that many bytes; the rest is wiped

  // Takes the same time wherever the two differ.
  bool equals(std::string_view other) const;

 private:
  void wipe() noexcept;

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
};

}  // namespace spillway::pki
