#include "services/agent/cluster_home.h"

#include <array>
#include <utility>

#include <unistd.h>

#include "kube/small_file.h"

namespace spillway::agent {

using services::Level;

std::string holder_name(host::Random& random) {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  return fmt::format("{}_{:016x}", name.data(), random.next());
}

ClusterHome::ClusterHome(kube::Api& api, services::Log& log, ClusterHomeOptions options,
                         ClusterHomeCalls calls)
    : api_(api),
      log_(log),
      options_(std::move(options)),
      calls_(std::move(calls)),
      identity_secret_(api, options_.identity, options_.holder,
                       [this](const Error& error) { lose(error); }),
      state_secret_(api, options_.state, options_.holder,
                    [this](const Error& error) { lose(error); }),
      identity_(identity_secret_),
      shared_(api, log, options_.identity),
      state_(state_secret_, options_.kind),
      lease_(api, {.name = options_.lease, .holder = options_.holder},
             {[this] { claim(); },
              [this] {
                lose({Code::conflict, kube::to_text(kube::k_leases, options_.lease),
                      "it could not be renewed in time, or another process has it",
                      "start it again: it waits then, while another goes on"});
              },
              [this](const Error& error) {
                const std::string message = error.message();
                if (std::exchange(told_, message) == message) return;
                log_.write(Level::warning, "lease in trouble", {{"why", message}});
              }}) {}

void ClusterHome::start() {
  log_.write(Level::info, "waiting for the lease",
             {{"lease", options_.lease.name}, {"as", options_.holder}});
  lease_.start();
}

void ClusterHome::leave(std::function<void()> done) {
  is_out_ = true;
  lease_.release(std::move(done));
}

void ClusterHome::lose(const Error& error) {
  if (std::exchange(is_out_, true)) return;
  calls_.on_lost(error);
}

bool ClusterHome::tries_again(const Error& error, void (ClusterHome::*step)()) {
  if (is_out_ || !describe(error.code).not_now) return false;
  log_.write(Level::warning, "identity and state not to be had", {{"why", error.message()}});
  api_.loop().after(backoff_.next(api_.random()), life_.guard([this, step] {
    if (!is_out_) (this->*step)();
  }));
  return true;
}

void ClusterHome::claim() {
  if (is_out_) return;
  log_.write(Level::info, "lease held", {{"lease", options_.lease.name}});
  if (options_.reads_identity) return claim_state();
  identity_secret_.claim(life_.guard([this](const Status& claimed) {
    if (claimed) return claim_state();
    if (!tries_again(claimed.error(), &ClusterHome::claim)) lose(claimed.error());
  }));
}

void ClusterHome::claim_state() {
  state_secret_.claim(life_.guard([this](const Status& claimed) {
    if (claimed) return enter();
    if (!tries_again(claimed.error(), &ClusterHome::claim_state)) lose(claimed.error());
  }));
}

void ClusterHome::enter() {
  if (is_out_) return;
  if (options_.reads_identity) return read_shared();
  if (identity_.is_there()) return go_home(identity_.load());
  join();
}

void ClusterHome::read_shared() {
  shared_.read(life_.guard([this](const Result<Credentials>& seen) {
    if (!seen && tries_again(seen.error(), &ClusterHome::read_shared)) return;
    go_home(seen);
  }));
}

void ClusterHome::join() {
  if (options_.broker.empty()) {
    return lose({Code::not_found, identity_secret_.text(), "there is no identity in it",
                 "give --join and --token-file, or put the files of spillway join into it"});
  }
  const auto text = kube::read_small_file(options_.token_file);
  if (!text) return lose(text.error());
  const pki::Secret token(std::string_view(*text).substr(0, text->find_first_of("\r\n")));
  identity_.join(options_.broker, token, calls_.connect,
                 life_.guard([this](const Result<Credentials>& joined) {
                   if (joined) {
                     log_.write(Level::info, "joined",
                                {{"cluster", joined->name}, {"federation", joined->federation}});
                     return go_home(joined);
                   }
                   if (!tries_again(joined.error(), &ClusterHome::join)) lose(joined.error());
                 }));
}

void ClusterHome::go_home(const Result<Credentials>& credentials) {
  if (is_out_) return;
  if (!credentials) return lose(credentials.error());
  calls_.on_home(*credentials);
}

}  // namespace spillway::agent
