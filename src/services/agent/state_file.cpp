#include "services/agent/state_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pki/private_file.h"

namespace spillway::agent {
namespace {

std::string holder_of(int lock) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(lock, text.data(), text.size(), 0);
  std::string pid;
  for (ssize_t i = 0;
       i < size && text[static_cast<size_t>(i)] >= '0' && text[static_cast<size_t>(i)] <= '9';
       ++i) {
    pid += text[static_cast<size_t>(i)];
  }
  return pid.empty() ? "another process" : "process " + pid;
}

}  // namespace

StateKind agent_state() {
  return {"agent",
          [](const std::string& json, const std::string& source) {
            return state_from_json(json, source).map([](const AgentState&) {});
          },
          "start once with --forget-state: the broker still knows what was published and sold",
          "the broker still knows what was published and sold"};
}

Result<std::unique_ptr<StateFile>> StateFile::open(const std::string& folder, StateKind kind) {
  SPILLWAY_TRY(pki::make_private_folder(folder));
  const std::string path = fmt::format("{}/{}.lock", folder, kind.name);
  pki::FileHandle lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.is_open()) return pki::fail_errno(path, "it cannot be opened", errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return pki::fail_errno(path, "it cannot be locked", errno);
    return fail(Code::conflict, folder,
                fmt::format("{} is an {} with the same state", holder_of(lock.get()), kind.name),
                "stop that one, or give this one a folder of its own");
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(lock.get(), 0) != 0 ||
      ::pwrite(lock.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return pki::fail_errno(path, "it cannot be written", errno);
  }
  return std::unique_ptr<StateFile>(new StateFile(folder, std::move(kind), std::move(lock)));
}

void StateFile::save(const std::string& json, std::function<void(Status)> then) {
  then(pki::write_private(path_, json));
}

Result<std::string> StateFile::load() {
  const pki::FileHandle file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ENOENT) return std::string();
    return pki::fail_errno(path_, "it cannot be opened", errno);
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return fail(Code::invalid, path_, "it is no regular file", "move it away");
  }
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return pki::fail_errno(path_, "it cannot be read", errno);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  if (text.empty()) {
    return fail(Code::invalid, path_, "it is empty", kind_.mend);
  }
  if (auto whole = kind_.check(text, path_); !whole) {
    Error error = std::move(whole).error();
    error.next = kind_.mend;
    return tl::unexpected(std::move(error));
  }
  return text;
}

Status StateFile::forget() {
  if (::unlink(path_.c_str()) == 0 || errno == ENOENT) return {};
  return pki::fail_errno(path_, "it cannot be removed", errno);
}

}  // namespace spillway::agent
