#include "kube/exec_token.h"

#include "base/text.h"
#include "kube/last_words.h"
#include "model/json.h"
#include "model/tree.h"

namespace spillway::kube {

// Nothing of `text` is ever repeated, not even of one that cannot be read: it is a secret.
Result<ExecCredential> read_exec_credential(std::string_view text, const ExecPlugin& plugin) {
  const auto root = model::parse_json(text, "output");
  if (!root) return plugin_failed(plugin, "what it printed is no JSON");
  ExecCredential made;
  made.token = model::text_at(*root, {"status", "token"});
  const bool is_token =
      !made.token.empty() && is_printable(made.token) && made.token.find(' ') == std::string::npos;
  if (!is_token) {
    return plugin_failed(plugin, "it printed no token",
                         "use a plugin that makes tokens: certificates of plugins are not taken");
  }
  const std::string_view until = model::text_at(*root, {"status", "expirationTimestamp"});
  if (until.empty()) return made;
  const auto time = parse_instant(until);
  if (!time) return plugin_failed(plugin, "its token's expirationTimestamp is no RFC 3339 time");
  made.until = *time;
  return made;
}

void ExecToken::get(Then then) {
  if (!known_.token.empty() && poll_.now() + k_early < known_.until) return then(known_.token);
  waiting_.push_back(std::move(then));
  if (waiting_.size() > 1) return;
  auto run = PluginRun::start(poll_, plugin_, [this] { on_end(); });
  if (!run) return finish(tl::unexpected(std::move(run).error()));
  run_ = std::move(*run);
  poll_.after(plugin_.patience, life_.guard([this, number = ++runs_] {
    if (number == runs_ && run_ != nullptr) on_late();
  }));
}

void ExecToken::on_end() {
  const auto run = std::move(run_);
  auto made = run->output().empty() ? plugin_failed(plugin_, "it printed nothing", plugin_.hint)
                                    : read_exec_credential(run->output(), plugin_);
  finish(with_last_words(std::move(made), *run));
}

void ExecToken::on_late() {
  const auto run = std::move(run_);
  finish(with_last_words(
      plugin_failed(plugin_, "it has not ended after " + to_text(plugin_.patience)), *run));
}

Result<ExecCredential> ExecToken::with_last_words(Result<ExecCredential> made,
                                                  const PluginRun& run) {
  const std::string words = made ? std::string() : last_words(run.complaints());
  if (!words.empty()) made.error().reason += fmt::format(" (it said: {})", words);
  return made;
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
