// Disks that are full, read-only or limited: the error names the file, the reason and the next
// step; nothing has changed; and the store works again, without a restart, once there is room.
#include <csignal>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/lossy_vfs.h"
#include "support/store_driver.h"
#include "support/temporary_folder.h"
#include "support/text.h"

namespace spillway::store {
namespace {

using namespace test;

TEST(DiskTrouble, AFullDiskRefusesAndRecovers) {
  LossyVfs disk("full-disk");
  StoreDriver driver;
  SqliteOptions options = StoreDriver::sample_options();
  options.vfs = disk.vfs();
  ASSERT_EQ(driver.open("market.db", options), "");
  ASSERT_TRUE(driver.commit(sample_hold(1)));

  disk.limit_bytes(disk.bytes());
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto refused = driver.commit(sample_hold(2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::unavailable);
    const std::string message = refused.error().message();
    EXPECT_TRUE(has(message, "market.db") && has(message, "full") && has(message, "make room"))
        << message;
  }
  EXPECT_EQ(driver.version(market::key_of(sample_contract_id(2))), 0);
  EXPECT_EQ(driver.load({})->last_event, 1);

  disk.limit_bytes(std::nullopt);
  const auto committed = driver.commit(sample_hold(2));
  ASSERT_TRUE(committed) << committed.error().message();
  EXPECT_EQ(committed->first_event, 2);
  EXPECT_TRUE(driver.verify()->is_clean());
}

// The log is full in the middle of a group: all of it is refused, none of it is there.
TEST(DiskTrouble, AGroupThatDoesNotFitIsRefusedAsAWhole) {
  LossyVfs disk("small-disk");
  StoreDriver driver;
  SqliteOptions options = StoreDriver::sample_options();
  options.vfs = disk.vfs();
  ASSERT_EQ(driver.open("market.db", options), "");
  disk.limit_bytes(disk.bytes() + 100'000);
  int refused = 0;
  int done = 0;
  for (int n = 0; n < 500; ++n) {
    driver.store().commit(sample_hold(n), [&](auto result) {
      ++done;
      refused += result ? 0 : 1;
    });
  }
  driver.loop().run_until([&] { return done == 500; });
  EXPECT_GT(refused, 0);
  EXPECT_EQ(driver.load({})->last_event, 500 - refused);
  disk.limit_bytes(std::nullopt);
  EXPECT_TRUE(driver.verify()->is_clean());
}

TEST(DiskTrouble, AReadOnlyDiskRefusesAndRecovers) {
  LossyVfs disk("read-only-disk");
  StoreDriver driver;
  SqliteOptions options = StoreDriver::sample_options();
  options.vfs = disk.vfs();
  ASSERT_EQ(driver.open("market.db", options), "");
  disk.make_read_only(true);
  const auto refused = driver.commit(sample_hold(1));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(has(refused.error().message(), "readonly")) << refused.error().message();
  EXPECT_TRUE(has(refused.error().message(), "writable")) << refused.error().message();
  disk.make_read_only(false);
  EXPECT_TRUE(driver.commit(sample_hold(1)));
}

// In a process of its own, for limits and identities are a process' own. Exits with 0 when `body`
// returns an empty string, which else is printed.
template <class Body>
void in_child(Body body) {
  EXPECT_EXIT(
      {
        const std::string wrong = body();
        std::fputs(wrong.c_str(), stderr);
        _exit(wrong.empty() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(DiskTroubleDeathTest, ALimitOnFileSizeRefusesAndRecovers) {
  const TemporaryFolder folder;
  in_child([&]() -> std::string {
    StoreDriver driver;
    if (auto why = driver.open(folder / "market.db"); !why.empty()) return why;
    if (!driver.commit(sample_hold(0))) return "the first commit failed";
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 256 << 10;
    setrlimit(RLIMIT_FSIZE, &limit);
    int n = 1;
    std::string message;
    for (; n < 1000 && message.empty(); ++n) {
      if (auto result = driver.commit(sample_hold(n)); !result) message = result.error().message();
    }
    if (!has(message, "market.db") || !has(message, "limits on file size")) {
      return "no good error: " + message;
    }
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (driver.load({})->last_event != n - 1) return "the failed commit left something";
    if (auto again = driver.commit(sample_hold(n)); !again) return again.error().message();
    return driver.verify()->is_clean() ? "" : "the file is damaged";
  });
}

TEST(DiskTroubleDeathTest, AFolderThatMayNotBeWrittenIsNamed) {
  const TemporaryFolder folder;
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec |
                         std::filesystem::perms::others_read | std::filesystem::perms::others_exec);
  in_child([&]() -> std::string {
    if (geteuid() == 0 && setuid(65534) != 0) return "cannot become nobody";
    StoreDriver driver;
    const std::string refusal = driver.open(folder / "market.db");
    return has(refusal, "market.db") && has(refusal, "may write in it") ? "" : "said: " + refusal;
  });
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
}

TEST(DiskTroubleDeathTest, AFileThatMayOnlyBeReadIsNamed) {
  const TemporaryFolder folder;
  {
    StoreDriver driver;
    ASSERT_EQ(driver.open(folder / "market.db"), "");
    ASSERT_TRUE(driver.commit(sample_hold(1)));
  }
  using std::filesystem::perms;
  std::filesystem::permissions(folder / "market.db",
                               perms::owner_read | perms::group_read | perms::others_read);
  std::filesystem::permissions(folder.path(), perms::all);
  in_child([&]() -> std::string {
    if (geteuid() == 0 && setuid(65534) != 0) return "cannot become nobody";
    StoreDriver driver;
    const std::string refusal = driver.open(folder / "market.db");
    return has(refusal, "market.db") && has(refusal, "writable") ? "" : "said: " + refusal;
  });
}

}  // namespace
}  // namespace spillway::store
