#include "kube/plugin_run.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "model/json.h"
#include "model/tree.h"

extern char** environ;

namespace spillway::kube {
namespace {

constexpr size_t k_read_bytes = 4096;
constexpr int k_most_reads = 32;  // more than a pipe holds, so that a chatty child cannot keep us

std::vector<std::string> environment_of(const ExecPlugin& plugin) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    all[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : plugin.environment) all[name] = value;
  model::Node info = model::object_node();
  model::put(info, "apiVersion", model::text_node(plugin.version));
  model::put(info, "kind", model::text_node("ExecCredential"));
  model::put(model::ensure(info, {"spec"}), "interactive", model::boolean_node(false));
  all["KUBERNETES_EXEC_INFO"] = model::to_json(info);
  std::vector<std::string> made;
  made.reserve(all.size());
  for (const auto& [name, value] : all) made.push_back(fmt::format("{}={}", name, value));
  return made;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Our end does not block; the other is inherited by nobody but who gets it on purpose.
struct Pipe {
  int ours = -1;
  int theirs = -1;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    ours = ends[0];
    theirs = ends[1];
    ::fcntl(ours, F_SETFL, O_NONBLOCK);
    return true;
  }
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (ours >= 0) ::close(ours);
    if (theirs >= 0) ::close(theirs);
  }
};

// The errno of posix_spawnp, or 0.
int spawn(const ExecPlugin& plugin, int output, int complaints, pid_t& child) {
  std::vector<std::string> words = {plugin.command};
  words.insert(words.end(), plugin.arguments.begin(), plugin.arguments.end());
  std::vector<std::string> environment = environment_of(plugin);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);  // ours are blocked for signalfd
  posix_spawnattr_setpgroup(&attributes, 0);       // a group of its own, called as it is
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawnp(&child, plugin.command.c_str(), &actions, &attributes,
                                   pointers_to(words).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// How many bytes were added to `text`; 0 at the end, nothing when there is none for now.
std::optional<size_t> read_some(int descriptor, std::string& text) {
  std::array<char, k_read_bytes> buffer{};
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  if (count <= 0) return 0;
  text.append(buffer.data(), static_cast<size_t>(count));
  return static_cast<size_t>(count);
}

}  // namespace

tl::unexpected<Error> plugin_failed(const ExecPlugin& plugin, std::string reason,
                                    std::string next) {
  return fail(Code::unavailable, "exec plugin " + in_quotes(plugin.command), std::move(reason),
              next.empty() ? "run it by hand to see what it says" : std::move(next));
}

Result<std::unique_ptr<PluginRun>> PluginRun::start(net::Poll& poll, const ExecPlugin& plugin,
                                                    std::function<void()> on_end) {
  Pipe output;
  Pipe complaints;
  if (!output.open() || !complaints.open()) {
    return plugin_failed(plugin, std::generic_category().message(errno),
                         "look how many files this process may open");
  }
  std::unique_ptr<PluginRun> run(new PluginRun(poll, std::move(on_end)));
  const int error = spawn(plugin, output.theirs, complaints.theirs, run->leader_);
  if (error != 0) {
    run->leader_ = -1;
    return plugin_failed(plugin, std::generic_category().message(error), plugin.hint);
  }
  run->output_fd_ = std::exchange(output.ours, -1);
  run->complaint_fd_ = std::exchange(complaints.ours, -1);
  // Not pidfd_open(): glibc 2.36 declares it for C only. Without one its output tells of its end.
  run->exit_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, run->leader_, 0));
  run->watch();
  return run;
}

void PluginRun::watch() {
  poll_.watch(output_fd_, true, false, [this](net::Ready) { on_output(); });
  poll_.watch(complaint_fd_, true, false, [this](net::Ready) { read_complaint(); });
  if (exit_fd_ >= 0) poll_.watch(exit_fd_, true, false, [this](net::Ready) { on_exit(); });
}

PluginRun::~PluginRun() {
  close(output_fd_);
  close(complaint_fd_);
  close(exit_fd_);
  if (leader_ < 0) return;
  // Before it is waited for: until then nobody else's group can have that number.
  ::kill(-leader_, SIGKILL);
  ::waitpid(leader_, nullptr, 0);
}

void PluginRun::close(int& descriptor) {
  if (descriptor < 0) return;
  poll_.unwatch(descriptor);
  ::close(std::exchange(descriptor, -1));
}

// At the end of its output, or of our patience with it, the rest of the plugin is of no use to us.
void PluginRun::on_output() {
  const auto count = read_some(output_fd_, output_);
  if (!count || (*count > 0 && output_.size() < k_most_output)) return;
  finish();
}

// Something that it left in the background may hold its output open, and never say a word.
void PluginRun::on_exit() {
  for (int reads = 0; reads < k_most_reads && output_.size() < k_most_output; ++reads) {
    if (read_some(output_fd_, output_).value_or(0) == 0) break;
  }
  finish();
}

void PluginRun::finish() {
  close(output_fd_);
  close(exit_fd_);
  // What it complained about before it closed its output is in the pipe by now.
  for (int reads = 0; reads < k_most_reads && read_complaint(); ++reads) continue;
  const auto on_end = std::move(on_end_);
  on_end();
}

bool PluginRun::read_complaint() {
  if (complaint_fd_ < 0) return false;
  const auto count = read_some(complaint_fd_, complaints_);
  if (!count) return false;
  if (*count == 0) close(complaint_fd_);
  if (complaints_.size() > k_most_complaints) {
    complaints_.erase(0, complaints_.size() - k_most_complaints);
  }
  return *count > 0;
}

}  // namespace spillway::kube
