#include "kube/small_file.h"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>

#include "pki/file_handle.h"

namespace spillway::kube {
namespace {

constexpr size_t k_largest_file = size_t{1} << 20;

}  // namespace

Result<std::string> read_small_file(const std::string& path) {
  // Without waiting: a pipe in the place of a file would stop the loop.
  const pki::FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return pki::fail_errno(path, "opening it", errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return pki::fail_errno(path, "looking at it", errno);
  if (!S_ISREG(facts.st_mode)) {
    return fail(Code::invalid, path, "it is not a file", "name a file");
  }
  std::string text;
  std::array<char, 16 * 1024> buffer{};
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return pki::fail_errno(path, "reading it", errno);
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(count));
    if (text.size() > k_largest_file) {
      return fail(Code::invalid, path, "it is larger than a megabyte", "name another file");
    }
  }
}

}  // namespace spillway::kube
