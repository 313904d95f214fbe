// The broker as a process on a disk that is full, limited, read-only or damaged: it says what is
// wrong and what to do, serves what it can, and goes on by itself once there is room.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "live/broker_process.h"
#include "live/federation.h"
#include "live/shop.h"
#include "store/sqlite.h"
#include "support/text.h"

namespace spillway {
namespace {

namespace fs = std::filesystem;
using model::Role;
using test::has;
using test::Members;
using test::Papers;

// A small file system of its own under a folder that is there already, with all that is in it.
class SmallDisk {
 public:
  explicit SmallDisk(std::string folder) : folder_(std::move(folder)) {
    const test::TemporaryFolder aside;
    fs::copy(folder_, aside / "all", fs::copy_options::recursive);
    is_there_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=8m,mode=0700") == 0;
    if (is_there_) {
      fs::copy(aside / "all", folder_,
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    }
  }
  ~SmallDisk() {
    if (is_there_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_there() const { return is_there_; }  // mounting is for root
  void fill() const {
    std::ofstream filler(filler_path(), std::ios::binary);
    filler.rdbuf()->pubsetbuf(nullptr, 0);
    const std::string page(4096, 'x');
    while (filler.write(page.data(), static_cast<std::streamsize>(page.size()))) {
    }
  }
  void make_room() const { fs::remove(filler_path()); }
  bool make_read_only() const {
    return ::mount("tmpfs", folder_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }

 private:
  std::string filler_path() const { return folder_ + "/filler"; }

  std::string folder_;
  bool is_there_ = false;
};

// What a broker said that did not stay, or that it stayed (and was ended then).
struct Started {
  bool serves = false;
  int code = -1;
  std::string said;
};

class Disk : public testing::Test {
 protected:
  void start() {
    broker_ = std::make_unique<test::BrokerProcess>(
        members.data(),
        std::vector<std::string>{"log=error", "member_rate=0", "stranger_rate=0", "drain=0s"});
    broker_->start();
    members.set_port(broker_->port());
  }
  void stop() {
    members.forget_connections();
    EXPECT_EQ(broker_->terminate(), 0);
    broker_.reset();
  }
  void open_shop() {
    seller = members.join("seller", {Role::provider});
    buyer = members.join("buyer", {Role::consumer});
    test::open_shop(members, seller, 10'000);
  }
  net::Response hold(const std::string& key) { return members.call(buyer, test::hold_one(key)); }
  // Buys until it is refused; the key of that one.
  std::string buy_until_refused(net::Response& refusal) {
    for (int n = 0; n < 9'000; ++n) {
      const std::string key = fmt::format("k-{}", n);
      refusal = hold(key);
      if (refusal.status != 201) return key;
    }
    ADD_FAILURE() << "the disk never was full";
    return {};
  }
  void expect_trouble(const net::Response& refusal, const std::string& advice) {
    EXPECT_EQ(refusal.status, 503);
    const std::string* type = net::find_header(refusal.headers, "Content-Type");
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(*type, "application/problem+json");
    EXPECT_NE(net::find_header(refusal.headers, "Retry-After"), nullptr);
    const auto problem = Members::read<wire::Problem>(refusal);
    EXPECT_TRUE(has(problem.next, advice)) << refusal.body;
    // Again and again: it must not look well between two attempts to write.
    for (int i = 0; i < 200; ++i) {
      const auto ready = members.call(members.boss(), Members::get("/readyz"));
      ASSERT_EQ(ready.status, 503) << ready.body;
      ASSERT_TRUE(has(ready.body, advice)) << ready.body;
    }
    EXPECT_EQ(members.call(members.boss(), Members::get("/healthz")).status, 200);
    for (const char* target : {"/v1/whoami", "/v1/contracts", "/v1/offers/seller/small"}) {
      EXPECT_EQ(members.call(buyer, Members::get(target)).status, 200) << target;
    }
  }
  void expect_recovery(const std::string& refused_key) {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    int status = 0;
    while (status != 200 && std::chrono::steady_clock::now() < patience) {
      status = members.call(members.boss(), Members::get("/readyz")).status;
    }
    EXPECT_EQ(status, 200);
    const auto again = hold(refused_key);
    EXPECT_EQ(again.status, 201) << again.body;
  }

  // It says that it listens, or ends.
  Started try_start() const {
    const std::string errors = members.data() + ".errors";
    const std::string command =
        fmt::format("echo $$; exec '{}' broker --data '{}' --set listen=127.0.0.1:0 2>'{}'",
                    test::spillway_program(), members.data(), errors);
    FILE* pipe = ::popen(command.c_str(), "r");
    std::array<char, 256> line{};
    SPILLWAY_CHECK(std::fgets(line.data(), line.size(), pipe) != nullptr, "no shell");
    const pid_t pid = std::atoi(line.data());
    Started started;
    started.serves = std::fgets(line.data(), line.size(), pipe) != nullptr;
    if (started.serves) ::kill(pid, SIGKILL);
    const int status = ::pclose(pipe);
    started.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    started.said = test::read_text(errors);
    return started;
  }
  std::string file() const { return members.data() + "/market.db"; }

  Members members;
  Papers seller;
  Papers buyer;
  std::unique_ptr<test::BrokerProcess> broker_;
};

TEST_F(Disk, AFullOneRefusesWhatChangesServesTheRestAndRecovers) {
  const SmallDisk disk(members.data());
  if (!disk.is_there()) GTEST_SKIP() << "file systems cannot be mounted here";
  start();
  open_shop();
  disk.fill();
  net::Response refusal;
  const std::string key = buy_until_refused(refusal);
  expect_trouble(refusal, "make room");
  disk.make_room();
  expect_recovery(key);
  stop();
}

TEST_F(Disk, ALimitOnTheSizeOfFilesRefusesAndRecovers) {
  start();
  open_shop();
  rlimit before{};
  ASSERT_EQ(::prlimit(broker_->pid(), RLIMIT_FSIZE, nullptr, &before), 0);
  const rlimit small{fs::file_size(file() + "-wal"), before.rlim_max};
  ASSERT_EQ(::prlimit(broker_->pid(), RLIMIT_FSIZE, &small, nullptr), 0);
  net::Response refusal;
  const std::string key = buy_until_refused(refusal);
  expect_trouble(refusal, "limits on file size");
  ASSERT_EQ(::prlimit(broker_->pid(), RLIMIT_FSIZE, &before, nullptr), 0);
  expect_recovery(key);
  stop();
}

TEST_F(Disk, AReadOnlyOneIsNamedAtTheStart) {
  const SmallDisk disk(members.data());
  if (!disk.is_there()) GTEST_SKIP() << "file systems cannot be mounted here";
  start();
  stop();
  ASSERT_TRUE(disk.make_read_only());
  const Started started = try_start();
  EXPECT_FALSE(started.serves);
  EXPECT_GT(started.code, 0);
  EXPECT_TRUE(has(started.said, "market.db") && has(started.said, "writ")) << started.said;
}

// Whichever page it is: either the broker serves, or it ends and tells of the backup.
TEST_F(Disk, ADamagedPageIsToldAtTheStartOrHurtsNobody) {
  start();
  open_shop();
  for (int n = 0; n < 50; ++n) ASSERT_EQ(hold(fmt::format("k-{}", n)).status, 201);
  stop();
  const std::string sound = file() + ".sound";
  fs::copy_file(file(), sound);
  constexpr size_t k_page = 4096;
  const size_t pages = fs::file_size(sound) / k_page;
  ASSERT_GT(pages, 10U);
  int told = 0;
  for (size_t page = 1; page < pages; page += 1 + pages / 24) {
    fs::copy_file(sound, file(), fs::copy_options::overwrite_existing);
    {
      std::fstream out(file(), std::ios::in | std::ios::out | std::ios::binary);
      out.seekp(static_cast<std::streamoff>(page * k_page));
      const std::string garbage(k_page, '\x5a');
      out.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
    }
    const Started started = try_start();
    if (started.serves) continue;
    ++told;
    EXPECT_GT(started.code, 0) << page;
    EXPECT_TRUE(has(started.said, "market.db") && has(started.said, "restore the last backup"))
        << page << ": " << started.said;
    fs::remove(file() + "-wal");
    fs::remove(file() + "-shm");
  }
  EXPECT_GT(told, 0);
}

// A row that is no longer what it was is set aside; who needs it is told, all others are served.
TEST_F(Disk, ADamagedRowIsSetAsideAndOthersAreServed) {
  start();
  open_shop();
  const auto granted = Members::read<wire::HoldAnswer>(hold("k-1"));
  stop();
  {
    auto connection = store::Connection::open(file(), {});
    ASSERT_TRUE(connection);
    ASSERT_TRUE((*connection)->execute("UPDATE pool SET body = substr(body, 1, 20)"));
  }
  start();
  const auto refused = hold("k-2");
  EXPECT_EQ(refused.status, 500) << refused.body;
  EXPECT_FALSE(Members::read<wire::Problem>(refused).next.empty()) << refused.body;
  EXPECT_EQ(members.call(members.boss(), Members::get("/readyz")).status, 200);
  EXPECT_EQ(
      members.call(buyer, Members::get("/v1/contracts/" + granted.grants[0].contract.text)).status,
      200);
  const auto metrics = members.call(members.boss(), Members::get("/metrics"));
  EXPECT_TRUE(has(metrics.body, "spillway_rows_quarantined 1\n")) << metrics.body;
  EXPECT_EQ(members.call(members.boss(), Members::get("/v1/audit?after=0")).status, 200);
  members.join("newcomer", {Role::consumer});
  stop();
}

}  // namespace
}  // namespace spillway
