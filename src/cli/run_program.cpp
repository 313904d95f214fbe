#include "cli/run_program.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pki/file_handle.h"

extern char** environ;

namespace spillway::cli {
namespace {

// A line after which nothing comes for so long is no last word, but news to be shown.
constexpr int k_pause_ms = 200;
constexpr size_t k_most_output = size_t{4} << 20;

struct Pipe {
  pki::FileHandle ours;
  pki::FileHandle theirs;
};

Result<Pipe> make_pipe(const std::string& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return pki::fail_errno(program, "running it", errno);
  return Pipe{pki::FileHandle(ends[0]), pki::FileHandle(ends[1])};
}

// Its ends of the pipes are closed here, so that ours end with it.
Result<pid_t> spawn(std::vector<std::string>& words, const pki::FileHandle out,
                    const pki::FileHandle err) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &interrupt);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return pki::fail_errno(words.front(), "running it", error);
  return child;
}

void show(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// Whether there may be more.
bool read_into(std::string& text, int descriptor) {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  text.append(buffer.data(), static_cast<size_t>(count));
  return text.size() < k_most_output;
}

// Shows all but the last line, which may be the last word.
void show_but_last(std::string& said) {
  const size_t end = said.find_last_not_of('\n');
  const size_t before = end == std::string::npos ? end : said.rfind('\n', end);
  if (before == std::string::npos) return;
  show(std::string_view(said).substr(0, before + 1));
  said.erase(0, before + 1);
}

void follow(int out, int err, std::string& output, std::string& said) {
  std::array<pollfd, 2> ends{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const int ready = ::poll(ends.data(), ends.size(), said.empty() ? -1 : k_pause_ms);
    if (ready < 0 && errno != EINTR) return;
    if (ready == 0) {
      show(said);
      said.clear();
    }
    if (ready <= 0) continue;
    if (ends[0].revents != 0 && !read_into(output, out)) ends[0].fd = -1;
    if (ends[1].revents != 0) {
      if (!read_into(said, err)) ends[1].fd = -1;
      show_but_last(said);
    }
  }
}

// Ignored while the program runs: it gets the same signal from the terminal.
class Uninterrupted {
 public:
  Uninterrupted() : before_(std::signal(SIGINT, SIG_IGN)) {}
  ~Uninterrupted() { std::signal(SIGINT, before_); }
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace

Result<Ran> run_program(std::vector<std::string> words) {
  auto output = make_pipe(words.front());
  if (!output) return tl::unexpected(output.error());
  auto complaints = make_pipe(words.front());
  if (!complaints) return tl::unexpected(complaints.error());
  const Uninterrupted uninterrupted;
  const auto child = spawn(words, std::move(output->theirs), std::move(complaints->theirs));
  if (!child) return tl::unexpected(child.error());
  Ran ran;
  std::string said;
  follow(output->ours.get(), complaints->ours.get(), ran.output, said);
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) continue;
  ran.is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (ran.is_good) {
    show(said);
  } else {
    while (said.ends_with('\n')) said.pop_back();
    ran.last_words = std::move(said);
  }
  return ran;
}

}  // namespace spillway::cli
