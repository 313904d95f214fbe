#include "cli/ask_cluster.h"

#include <cstdio>
#include <set>
#include <utility>

#include "cli/interruption.h"
#include "cli/safe_text.h"
#include "host/random.h"
#include "kube/session.h"
#include "services/service_loop.h"

namespace spillway::cli {
namespace {

constexpr Duration k_asking_patience = seconds(10);        // with a server that is not reached
constexpr Duration k_asking_silence = milliseconds(1500);  // then whoever waits is told for what

// Why nothing is heard of the cluster: each reason once, and none of what is over in a moment.
class Patience {
 public:
  void begin(net::Poll& poll) {
    poll.after(k_asking_silence, [this] {
      is_long_ = true;
      tell(last_.empty() ? "waiting for the cluster" : last_);
    });
  }
  void on_retry(const Error& why) {
    last_ = "trying again: " + why.message();
    if (is_long_) tell(last_);
  }

 private:
  void tell(const std::string& what) {
    if (told_.insert(what).second) fmt::print(stderr, "spillway: {}\n", safe(what));
  }

  bool is_long_ = false;
  std::string last_;
  std::set<std::string> told_;
};

}  // namespace

Status ask_cluster(const std::string& kubeconfig, const std::string& context,
                   const std::function<void(kube::Api& api, kube::Then<void> done)>& begin) {
  const auto access = kube::read_access(kubeconfig, context);
  if (!access) return tl::unexpected(access.error());
  Interruption interruption;  // ends the session before us, and with it what that has started
  net::Poll poll;
  services::ServiceLoop loop(poll);
  host::SystemRandom random;
  Patience patience;
  const auto session = kube::Session::open(
      poll, loop, random, *access,
      {k_asking_patience, [&patience](const Error& why) { patience.on_retry(why); }});
  if (!session) return tl::unexpected(session.error());
  Status told = fail(Code::unavailable, "the cluster", "it did not answer in time", "try again");
  poll.after(k_longest_asking, [&poll] { poll.stop(); });
  patience.begin(poll);
  interruption.ends(poll);
  bool is_done = false;
  begin((*session)->api(), [&](Status answer) {
    if (std::exchange(is_done, true)) return;
    told = std::move(answer);
    poll.stop();
  });
  poll.run();
  return told;
}

}  // namespace spillway::cli
