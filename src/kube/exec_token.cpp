#include "kube/exec_token.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "model/json.h"
#include "model/tree.h"

extern char** environ;

namespace spillway::kube {
namespace {

constexpr size_t k_most_output = size_t{1} << 20;

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

tl::unexpected<Error> plugin_failed(const std::string& command, std::string reason,
                                    std::string next = {}) {
  return fail(Code::unavailable, "exec plugin " + in_quotes(command), std::move(reason),
              next.empty() ? "run it by hand to see what it says" : std::move(next));
}

}  // namespace

Result<ExecCredential> read_exec_credential(std::string_view text, const std::string& command) {
  const auto root = model::parse_json(text, "output of " + command);
  if (!root) return tl::unexpected(root.error());
  ExecCredential made;
  made.token = model::text_at(*root, {"status", "token"});
  const bool is_token =
      !made.token.empty() && is_printable(made.token) && made.token.find(' ') == std::string::npos;
  if (!is_token) {
    return plugin_failed(command, "it printed no token",
                         "use a plugin that makes tokens: certificates of plugins are not taken");
  }
  const std::string_view until = model::text_at(*root, {"status", "expirationTimestamp"});
  if (until.empty()) return made;
  const auto time = parse_instant(until);
  if (!time) return tl::unexpected(time.error());
  made.until = *time;
  return made;
}

ExecToken::~ExecToken() { end_run(); }

void ExecToken::get(Then then) {
  if (!known_.token.empty() && poll_.now() + k_early < known_.until) return then(known_.token);
  waiting_.push_back(std::move(then));
  if (waiting_.size() > 1) return;
  if (auto status = run(); !status) finish(tl::unexpected(std::move(status).error()));
}

Status ExecToken::run() {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return plugin_failed(plugin_.command, std::generic_category().message(errno));
  }
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  std::vector<std::string> words = {plugin_.command};
  words.insert(words.end(), plugin_.arguments.begin(), plugin_.arguments.end());
  std::vector<std::string> environment = environment_of(plugin_);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);  // ours are blocked for signalfd
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, plugin_.command.c_str(), &actions, &attributes,
                                   pointers_to(words).data(), pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  if (error != 0) {
    ::close(pipe[0]);
    return plugin_failed(plugin_.command, std::generic_category().message(error), plugin_.hint);
  }
  child_ = child;
  output_fd_ = pipe[0];
  output_.clear();
  poll_.watch(output_fd_, true, false, [this](net::Ready) { on_output(); });
  poll_.after(k_longest_run, life_.guard([this, run = ++runs_] {
    if (run != runs_ || child_ < 0) return;
    end_run();
    finish(plugin_failed(plugin_.command, "it has not ended after " + to_text(k_longest_run)));
  }));
  return {};
}

void ExecToken::on_output() {
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(output_fd_, buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0 && output_.size() < k_most_output) {
    output_.append(buffer.data(), static_cast<size_t>(count));
    return;
  }
  // At the end of its output, or of our patience with it: a plugin that closes its output and goes
  // on is ended, for the rest of it is of no use to us.
  const std::string output = std::move(output_);
  end_run();
  if (output.empty()) {
    return finish(plugin_failed(plugin_.command, "it printed nothing", plugin_.hint));
  }
  finish(read_exec_credential(output, plugin_.command));
}

void ExecToken::end_run() {
  if (output_fd_ >= 0) {
    poll_.unwatch(output_fd_);
    ::close(std::exchange(output_fd_, -1));
  }
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(std::exchange(child_, -1), nullptr, 0);
}

void ExecToken::finish(Result<ExecCredential> made) {
  if (made) known_ = std::move(*made);
  const std::vector<Then> waiting = std::exchange(waiting_, {});
  for (const Then& then : waiting) {
    if (made) {
      then(known_.token);
    } else {
      then(tl::unexpected(made.error()));
    }
  }
}

}  // namespace spillway::kube
