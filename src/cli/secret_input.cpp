#include "cli/secret_input.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

namespace spillway::cli {
namespace {

constexpr size_t k_longest = 4096;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// The terminal's echo, off for as long as this lives.
class NoEcho {
 public:
  explicit NoEcho(int fd) : fd_(fd), changed_(::tcgetattr(fd, &before_) == 0) {
    if (!changed_) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(fd_, TCSAFLUSH, &quiet);
  }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;
  ~NoEcho() {
    if (changed_) ::tcsetattr(fd_, TCSAFLUSH, &before_);
  }

 private:
  int fd_;
  termios before_{};
  bool changed_;
};

// Byte by byte: what stands behind the line may be for somebody else.
Result<pki::Secret> read_line(int fd, std::string_view what) {
  pki::Secret line = pki::Secret::of_size(k_longest);
  size_t size = 0;
  while (size < k_longest) {
    const ssize_t got = ::read(fd, line.data() + size, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(Code::unavailable, std::string(what),
                  fmt::format("it cannot be read: {}", std::strerror(errno)), "check the file");
    }
    if (got == 0 || line.data()[size] == '\n') break;
    ++size;
  }
  if (size == k_longest) {
    return fail(Code::invalid, std::string(what), "its first line is too long to be one",
                "look whether it is the right file");
  }
  while (size > 0 && (line.data()[size - 1] == '\r' || line.data()[size - 1] == ' ')) --size;
  line.shorten(size);
  if (line.empty()) {
    return fail(Code::invalid, std::string(what), "it is empty",
                "look whether it is the right file");
  }
  return line;
}

Result<pki::Secret> prompt(int terminal, const char* question) {
  const NoEcho quiet(terminal);
  const auto say = [terminal](std::string_view text) {
    [[maybe_unused]] const ssize_t ignored = ::write(terminal, text.data(), text.size());
  };
  say(question);
  auto line = read_line(terminal, "passphrase");
  say("\n");
  return line;
}

}  // namespace

Result<pki::Secret> read_secret_line(const std::string& path, std::string_view what) {
  if (path == "-") return read_line(STDIN_FILENO, what);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) {
    return fail(Code::not_found, fmt::format("{} in {}", what, path),
                fmt::format("the file cannot be opened: {}", std::strerror(errno)),
                "check its name and permissions");
  }
  return read_line(file.get(), fmt::format("{} in {}", what, path));
}

Result<pki::Secret> read_passphrase(const std::string& file, bool repeat) {
  if (!file.empty()) return read_secret_line(file, "passphrase");
  const Descriptor terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (terminal.get() < 0) {
    return fail(Code::invalid, "passphrase", "there is no terminal to ask for it",
                "give --passphrase-file FILE, or - for standard input");
  }
  auto first = prompt(terminal.get(), "Passphrase: ");
  if (!first || !repeat) return first;
  const auto second = prompt(terminal.get(), "The same again: ");
  if (!second) return tl::unexpected(second.error());
  if (!first->equals(second->view())) {
    return fail(Code::invalid, "passphrase", "the two differ", "try again");
  }
  return first;
}

}  // namespace spillway::cli
