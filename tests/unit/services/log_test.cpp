#include "services/log.h"

#include <array>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace spillway::services {
namespace {

struct Ends {
  int read = -1;
  int write = -1;
  ~Ends() {
    ::close(read);
    ::close(write);
  }
};

void make_pipe(Ends& ends) {
  std::array<int, 2> fds{};
  ASSERT_EQ(::pipe2(fds.data(), O_CLOEXEC), 0);
  ends.read = fds[0];
  ends.write = fds[1];
  ::fcntl(ends.read, F_SETFL, O_NONBLOCK);
}

std::string read_all(int fd) {
  std::string all;
  std::array<char, 65536> some{};
  for (ssize_t got = 0; (got = ::read(fd, some.data(), some.size())) > 0;) {
    all.append(some.data(), static_cast<size_t>(got));
  }
  return all;
}

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++found;
  return found;
}

// If it waited for a reader, this test would never end.
void expect_never_waits(int read, int write) {
  LineLog log(write, Level::info, "test");
  while (log.left_out() < 3) log.write(Level::info, "full", {{"text", std::string(900, 'x')}});
  const std::string first = read_all(read);
  const size_t told = count(first, "\"full\"");
  EXPECT_GT(told, 10U);

  log.write(Level::info, "after", {});
  const std::string then = read_all(read);
  EXPECT_NE(then.find("\"left_out\":\"3\""), std::string::npos) << then;
  EXPECT_NE(then.find("\"after\""), std::string::npos) << then;
  const std::string all = first + then;
  EXPECT_EQ(count(all, "\n{"), count(all, "}\n") - 1) << "a line was torn";
}

TEST(LineLog, NeverWaitsForAPipeThatNobodyReads) {
  Ends ends;
  make_pipe(ends);
  expect_never_waits(ends.read, ends.write);
}

TEST(LineLog, NeverWaitsForASocketThatNobodyReads) {
  std::array<int, 2> fds{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
  const Ends ends{fds[0], fds[1]};
  ::fcntl(ends.read, F_SETFL, O_NONBLOCK);
  expect_never_waits(ends.read, ends.write);
}

TEST(LineLog, CutsWhatAnOutsiderMadeLong) {
  Ends ends;
  make_pipe(ends);
  LineLog log(ends.write, Level::info, "test");
  const std::string quotes(15'000, '"');  // each becomes two
  log.write(Level::info, "request",
            {{"a", quotes}, {"b", quotes}, {"c", quotes}, {"status", "404"}});
  const std::string line = read_all(ends.read);
  EXPECT_LE(line.size(), 4096U);
  EXPECT_TRUE(line.ends_with("}\n")) << line;
  EXPECT_NE(line.find("\"cut\":\"yes\""), std::string::npos) << line;
}

}  // namespace
}  // namespace spillway::services
