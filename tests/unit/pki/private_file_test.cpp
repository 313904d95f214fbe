#include "pki/private_file.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace spillway::pki {
namespace {

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

std::string content(const std::string& path) {
  const Result<Secret> bytes = read_private(path);
  return bytes ? std::string(bytes->view()) : bytes.error().message();
}

class PrivateFile : public testing::Test {
 protected:
  test::TemporaryFolder folder;
  const std::string path = folder / "secret";
};

TEST_F(PrivateFile, ReadsWhatWasWritten) {
  const std::string bytes("a\0b\n", 4);
  ASSERT_TRUE(write_private(path, bytes));
  EXPECT_EQ(content(path), bytes);
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  ASSERT_TRUE(write_private(path, ""));
  EXPECT_EQ(content(path), "");
}

TEST_F(PrivateFile, IsPrivateWhateverTheUmask) {
  const mode_t before = ::umask(0);
  ASSERT_TRUE(write_private(path, "x"));
  ASSERT_TRUE(make_private_folder(folder / "inner"));
  ::umask(before);
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_EQ(mode_of(folder / "inner"), 0700U);
}

TEST_F(PrivateFile, ReplacesOrRefuses) {
  ASSERT_TRUE(write_private(path, "one", Existing::refuse));
  const Status second = write_private(path, "two", Existing::refuse);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_EQ(content(path), "one");
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  ASSERT_TRUE(write_private(path, "two"));
  EXPECT_EQ(content(path), "two");
}

TEST_F(PrivateFile, WhatOthersMayReadIsRefusedWithTheCommandThatMendsIt) {
  const std::string odd = folder / "it's";
  ASSERT_TRUE(write_private(odd, "x"));
  for (const mode_t mode : {0640U, 0604U, 0660U, 0601U}) {
    ASSERT_EQ(::chmod(odd.c_str(), mode), 0);
    const Result<Secret> bytes = read_private(odd);
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().code, Code::denied);
    EXPECT_EQ(bytes.error().next, "chmod 600 '" + (folder / "it'\\''s") + "'");
    EXPECT_TRUE(read_private(odd, Readers::anyone));
  }
  ASSERT_EQ(std::system(read_private(odd).error().next.c_str()), 0);
  EXPECT_EQ(content(odd), "x");
}

TEST_F(PrivateFile, OnlySmallRegularFiles) {
  EXPECT_EQ(read_private(path).error().code, Code::not_found);
  EXPECT_FALSE(read_private(folder.path().string()));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(read_private(path)) << "and does not wait for a writer";
  EXPECT_TRUE(write_private(folder / "large", std::string(1 << 20, 'x')));
  EXPECT_TRUE(read_private(folder / "large"));
  EXPECT_TRUE(write_private(folder / "large", std::string((1 << 20) + 1, 'x')));
  EXPECT_FALSE(read_private(folder / "large"));
  EXPECT_EQ(write_private(folder / "no/such", "x").error().code, Code::not_found);
}

TEST_F(PrivateFile, ALinkInTheDraftsPlaceIsNotFollowed) {
  const std::string victim = folder / "victim";
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, path + ".new");
  EXPECT_FALSE(write_private(path, "x"));
  EXPECT_EQ(std::filesystem::file_size(victim), 8U);
}

TEST_F(PrivateFile, FoldersMustBeClosed) {
  const std::string inner = folder / "inner";
  ASSERT_TRUE(make_private_folder(inner));
  ASSERT_TRUE(make_private_folder(inner)) << "one that is there is fine";
  ASSERT_EQ(::chmod(inner.c_str(), 0755), 0);
  const Status open = make_private_folder(inner);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().next, "chmod 700 '" + inner + "'");
  EXPECT_FALSE(make_private_folder(folder / "no/such"));
  ASSERT_TRUE(write_private(path, "x"));
  EXPECT_FALSE(make_private_folder(path));
  EXPECT_FALSE(check_private_folder(folder / "none"));
}

constexpr WriteStep k_steps[] = {WriteStep::open, WriteStep::write, WriteStep::sync_file,
                                 WriteStep::rename, WriteStep::sync_folder};

TEST_F(PrivateFile, AFailureAnywhereLeavesOldOrNew) {
  for (const WriteStep bad : k_steps) {
    ASSERT_TRUE(write_private(path, "old"));
    const Status status =
        write_private(path, "new", Existing::replace, [&](WriteStep step) -> Status {
          if (step != bad) return {};
          return fail(Code::unavailable, "disk", "it is full");
        });
    EXPECT_FALSE(status);
    EXPECT_EQ(content(path), bad == WriteStep::sync_folder ? "new" : "old");
    EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  }
}

TEST_F(PrivateFile, AKillAnywhereLeavesOldOrNewAndTheNextWriteCleansUp) {
  for (const WriteStep last : k_steps) {
    ASSERT_TRUE(write_private(path, "old"));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      (void)write_private(path, "a longer new one", Existing::replace, [&](WriteStep step) {
        if (step == last) ::_exit(7);
        return Status();
      });
      ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 7);
    EXPECT_EQ(content(path), last == WriteStep::sync_folder ? "a longer new one" : "old");
    ASSERT_TRUE(write_private(path, "next"));
    EXPECT_EQ(content(path), "next");
    EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  }
}

TEST_F(PrivateFile, WritersAtOnceMixNothing) {
  const auto write_many = [&](char letter) {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(write_private(path, std::string(5000, letter)));
  };
  std::thread other(write_many, 'b');
  write_many('a');
  other.join();
  const std::string text = content(path);
  EXPECT_TRUE(text == std::string(5000, 'a') || text == std::string(5000, 'b'));
}

}  // namespace
}  // namespace spillway::pki
