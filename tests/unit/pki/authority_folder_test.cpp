#include "pki/authority_folder.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace spillway::pki {
namespace {

constexpr Instant k_now{1'800'000'000'000};
constexpr std::string_view k_passphrase = "correct horse battery";
constexpr WriteStep k_steps[] = {WriteStep::open, WriteStep::write, WriteStep::sync_file,
                                 WriteStep::rename, WriteStep::sync_folder};

using Step = Status (AuthorityFolder::*)(Instant);
constexpr Step k_rotation[] = {&AuthorityFolder::begin_rotation, &AuthorityFolder::finish_rotation,
                               &AuthorityFolder::retire_former};

class OnDisk : public testing::Test {
 protected:
  AuthorityFolder made() const { return *AuthorityFolder::create(path, "lab", k_now); }
  AuthorityStatus on_disk() const { return AuthorityFolder::load(path)->status(); }

  test::TemporaryFolder parent;
  const std::string path = parent / "authority";
  const std::string file = path + "/authority.pem";
};

TEST_F(OnDisk, LoadsWhatWasCreated) {
  const AuthorityFolder folder = made();
  EXPECT_EQ(folder.status().federation, "lab");
  EXPECT_EQ(folder.status().phase, RotationPhase::steady);
  EXPECT_EQ(folder.status().since, k_now);
  EXPECT_EQ(folder.status().current.fingerprint, folder.signer().fingerprint());
  EXPECT_EQ(folder.status().current.not_after, k_now + hours(24 * 3652));
  EXPECT_EQ(folder.bundle(), folder.signer().certificate_pem());
  const Result<AuthorityFolder> again = AuthorityFolder::load(path);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->status(), folder.status());
  EXPECT_EQ(again->bundle(), folder.bundle());
  EXPECT_TRUE(again->signer().key_pem().equals(folder.signer().key_pem().view()));
}

TEST_F(OnDisk, IsForItsOwnerOnly) {
  made();
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0700U);
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600U);

  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  const Result<AuthorityFolder> readable = AuthorityFolder::load(path);
  ASSERT_FALSE(readable);
  EXPECT_EQ(readable.error().next, "chmod 600 '" + file + "'");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
  const Result<AuthorityFolder> open = AuthorityFolder::load(path);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().next, "chmod 700 '" + path + "'");
}

TEST_F(OnDisk, IsNeverMadeTwice) {
  const AuthorityStatus before = made().status();
  const Result<AuthorityFolder> second = AuthorityFolder::create(path, "lab", k_now);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_EQ(on_disk(), before);
}

TEST_F(OnDisk, MissingOnesAreNotFound) {
  EXPECT_EQ(AuthorityFolder::load(path).error().code, Code::not_found);
  ASSERT_TRUE(make_private_folder(path));
  EXPECT_EQ(AuthorityFolder::load(path).error().code, Code::not_found);
  EXPECT_FALSE(AuthorityFolder::create(parent / "no/such", "lab", k_now));
  EXPECT_FALSE(AuthorityFolder::create(path, "No Lab", k_now));
}

TEST_F(OnDisk, RotatesInThreeSteps) {
  AuthorityFolder folder = made();
  const AuthorityStatus::Entry first = folder.status().current;
  const std::string first_pem = folder.bundle();

  ASSERT_TRUE(folder.begin_rotation(k_now + hours(1)));
  AuthorityStatus status = folder.status();
  EXPECT_EQ(status.phase, RotationPhase::begun);
  EXPECT_EQ(status.since, k_now + hours(1));
  EXPECT_EQ(status.current, first) << "current still signs";
  ASSERT_TRUE(status.next);
  const AuthorityStatus::Entry second = *status.next;
  EXPECT_NE(second.fingerprint, first.fingerprint);
  const std::string second_pem = folder.bundle().substr(first_pem.size());
  EXPECT_EQ(folder.bundle(), first_pem + second_pem);
  EXPECT_EQ(*fingerprint_of(second_pem), second.fingerprint);
  EXPECT_EQ(on_disk(), status);

  ASSERT_TRUE(folder.finish_rotation(k_now + hours(2)));
  status = folder.status();
  EXPECT_EQ(status.phase, RotationPhase::finished);
  EXPECT_EQ(status.since, k_now + hours(2));
  EXPECT_EQ(status.current, second);
  EXPECT_EQ(folder.signer().fingerprint(), second.fingerprint);
  EXPECT_FALSE(status.next);
  EXPECT_EQ(status.former, first);
  EXPECT_EQ(folder.bundle(), second_pem + first_pem);
  EXPECT_EQ(AuthorityFolder::load(path)->bundle(), folder.bundle());
  EXPECT_EQ(on_disk(), status);

  ASSERT_TRUE(folder.retire_former(k_now + hours(3)));
  status = folder.status();
  EXPECT_EQ(status.phase, RotationPhase::steady);
  EXPECT_EQ(status.current, second);
  EXPECT_FALSE(status.former);
  EXPECT_EQ(folder.bundle(), second_pem);
  EXPECT_EQ(on_disk(), status);
  EXPECT_TRUE(folder.begin_rotation(k_now + hours(4))) << "and around again";
}

TEST_F(OnDisk, TheKeyOfTheFormerIsDestroyed) {
  AuthorityFolder folder = made();
  const Secret key = folder.signer().key_pem();
  const std::string needle(key.view().substr(30, 60));
  const auto holds_key = [&] {
    return read_private(file)->view().find(needle) != std::string_view::npos;
  };
  ASSERT_TRUE(folder.begin_rotation(k_now));
  EXPECT_TRUE(holds_key());
  ASSERT_TRUE(folder.finish_rotation(k_now));
  EXPECT_FALSE(holds_key());
}

TEST_F(OnDisk, StepsOutOfOrderAreRefusedWithWhatToDo) {
  AuthorityFolder folder = made();
  const char* const advice[] = {"begin one", "finish it", "retire the former"};
  for (size_t phase = 0; phase < 3; ++phase) {
    const AuthorityStatus before = folder.status();
    for (size_t step = 0; step < 3; ++step) {
      if (step == phase) continue;
      const Status status = (folder.*k_rotation[step])(k_now + hours(9));
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, Code::conflict);
      EXPECT_TRUE(status.error().next.starts_with(advice[phase])) << status.error().message();
    }
    EXPECT_EQ(folder.status(), before);
    EXPECT_EQ(on_disk(), before);
    ASSERT_TRUE((folder.*k_rotation[phase])(k_now));
  }
}

TEST_F(OnDisk, EachStepLooksAtTheDiskFirst) {
  AuthorityFolder one = made();
  AuthorityFolder two = *AuthorityFolder::load(path);
  ASSERT_TRUE(one.begin_rotation(k_now));
  EXPECT_FALSE(two.begin_rotation(k_now)) << "would throw away a next that members trust already";
  ASSERT_TRUE(two.finish_rotation(k_now));
  EXPECT_EQ(two.status().current, *one.status().next);
}

TEST_F(OnDisk, AFailedStepIsNoStep) {
  made();
  bool failing = true;
  WriteStep bad = WriteStep::open;
  AuthorityFolder folder = *AuthorityFolder::load(path, [&](WriteStep step) -> Status {
    if (!failing || step != bad) return {};
    return fail(Code::unavailable, "disk", "it is full");
  });
  for (const Step step : k_rotation) {
    failing = true;
    const AuthorityStatus before = folder.status();
    for (const WriteStep at : k_steps) {
      if (at == WriteStep::sync_folder) continue;  // then it has happened
      bad = at;
      EXPECT_FALSE((folder.*step)(k_now));
      EXPECT_EQ(folder.status(), before);
      EXPECT_EQ(on_disk(), before);
    }
    failing = false;
    ASSERT_TRUE((folder.*step)(k_now));
  }
}

// Runs `work` in a process that dies when its write comes to `last`.
void die_at(WriteStep last, const std::function<void(const WriteProbe&)>& work) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work([&](WriteStep step) {
      if (step == last) ::_exit(7);
      return Status();
    });
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 7);
}

TEST_F(OnDisk, AKillIsBeforeTheStepOrAfterIt) {
  made();
  for (const Step step : k_rotation) {
    const AuthorityStatus before = on_disk();
    for (const WriteStep last : k_steps) {
      die_at(last, [&](const WriteProbe& probe) {
        (void)(*AuthorityFolder::load(path, probe).*step)(k_now + hours(1));
      });
      if (last == WriteStep::sync_folder) {
        EXPECT_NE(on_disk().phase, before.phase);
      } else {
        EXPECT_EQ(on_disk(), before);
      }
    }
  }
  EXPECT_EQ(on_disk().phase, RotationPhase::steady);
}

TEST_F(OnDisk, AKillWhileCreatingLeavesNoneOrOne) {
  for (const WriteStep last : k_steps) {
    die_at(last, [&](const WriteProbe& probe) {
      (void)AuthorityFolder::create(path, "lab", k_now, probe);
    });
    if (last == WriteStep::sync_folder) {
      EXPECT_TRUE(AuthorityFolder::load(path));
    } else {
      EXPECT_EQ(AuthorityFolder::load(path).error().code, Code::not_found);
    }
  }
}

TEST_F(OnDisk, ABackupBringsEverythingBackInEveryPhase) {
  AuthorityFolder folder = made();
  for (int phase = 0; phase < 3; ++phase) {
    const std::string backup = parent / ("backup" + std::to_string(phase));
    ASSERT_TRUE(folder.backup(backup, k_passphrase));
    const std::string other = parent / ("restored" + std::to_string(phase));
    ASSERT_EQ(::chmod(backup.c_str(), 0644), 0) << "it is encrypted; it may travel";
    const Result<AuthorityFolder> restored = AuthorityFolder::restore(backup, k_passphrase, other);
    ASSERT_TRUE(restored) << restored.error().message();
    EXPECT_EQ(restored->status(), folder.status());
    EXPECT_EQ(AuthorityFolder::load(other)->bundle(), folder.bundle());
    EXPECT_TRUE(restored->signer().key_pem().equals(folder.signer().key_pem().view()));
    ASSERT_TRUE((folder.*k_rotation[phase])(k_now));
  }
}

TEST_F(OnDisk, BackupsOverwriteNothing) {
  const AuthorityFolder folder = made();
  const std::string backup = parent / "backup";
  ASSERT_TRUE(folder.backup(backup, k_passphrase));
  const std::string content(read_private(backup)->view());
  EXPECT_EQ(content.find("PRIVATE KEY"), std::string::npos);
  EXPECT_EQ(folder.backup(backup, k_passphrase).error().code, Code::conflict);
  EXPECT_EQ(read_private(backup)->view(), content);
  EXPECT_FALSE(folder.backup(parent / "other", "short"));
  EXPECT_FALSE(std::filesystem::exists(parent / "other"));

  EXPECT_EQ(AuthorityFolder::restore(backup, k_passphrase, path).error().code, Code::conflict);
  EXPECT_EQ(on_disk(), folder.status());
  const Result<AuthorityFolder> wrong =
      AuthorityFolder::restore(backup, "wrong horse battery", parent / "new");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::denied);
  EXPECT_FALSE(std::filesystem::exists(parent / "new"));
}

TEST_F(OnDisk, DamagedFilesAreRefusedByName) {
  AuthorityFolder folder = made();
  ASSERT_TRUE(folder.begin_rotation(k_now));
  const std::string good(read_private(file)->view());
  const std::string other(
      to_text(AuthorityState{
                  RotationPhase::steady, k_now, *Authority::create("other", k_now), {}, {}, {}})
          .view());
  const std::string other_pem = other.substr(other.find("-----"));
  const size_t second = good.rfind("-----BEGIN CERTIFICATE");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string bad[] = {
      "",
      "hello",
      good.substr(0, good.size() / 2),
      good + "hello",
      good + other_pem,
      with("authority 1", "authority 2"),
      with("authority 1", "authority 1 "),
      with("phase begun", "phase steady"),
      with("phase begun", "phase finished"),
      with("phase begun", "phase odd"),
      with("since 2", "since x"),
      good.substr(0, second) + other_pem,
  };
  for (const std::string& text : bad) {
    ASSERT_TRUE(write_private(file, text));
    const Result<AuthorityFolder> loaded = AuthorityFolder::load(path);
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().code, Code::invalid);
    EXPECT_NE(loaded.error().thing.find(file), std::string::npos);
  }
  ASSERT_TRUE(write_private(file, good));
  EXPECT_TRUE(AuthorityFolder::load(path));
}

}  // namespace
}  // namespace spillway::pki
