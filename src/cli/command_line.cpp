#include "cli/command_line.h"

#include <array>

#include "cli/verbs.h"

namespace spillway::cli {
namespace {

struct Verb {
  const char* name;
  const char* group;
  const char* summary;
  void (*add)(Word);
};

constexpr const char* k_running = "Running a federation";
constexpr const char* k_joining = "Taking part";
constexpr const char* k_market = "The market";
constexpr const char* k_trying = "Trying it out";

constexpr std::array k_verbs{
    Verb{"broker", k_running, "Run a broker, set one up, look after its authority", &add_broker},
    Verb{"token", k_running, "Invite clusters, operators and viewers", &add_token},
    Verb{"identities", k_running, "Who has joined; end an identity", &add_identities},
    Verb{"clusters", k_running, "What clusters may buy: quotas, budgets, labels", &add_clusters},
    Verb{"audit", k_running, "Who changed what", &add_audit},

    Verb{"join", k_joining, "Become a member, with a token", &add_join},
    Verb{"renew", k_joining, "Get another certificate", &add_renew},
    Verb{"agent", k_joining, "Run the agent of a cluster", &add_agent},
    Verb{"autoscaler", k_joining, "Give the Cluster Autoscaler the market as node groups",
         &add_autoscaler},
    Verb{"explain", k_joining, "Why the autoscaler bought a node, or chose a group for a pod",
         &add_explain},
    Verb{"supply", k_joining, "What a live cluster would offer now, and why", &add_supply},
    Verb{"fabric", k_joining, "What keeps buyers within their contracts", &add_fabric},
    Verb{"driver", k_joining,
         "Order units between clusters that one has kubeconfigs of, without a market", &add_driver},
    Verb{"leaves", k_joining, "What of a namespace leaves the cluster, to whom, and why",
         &add_leaves},
    Verb{"whoami", k_joining, "Which identity this is, and what it may do", &add_whoami},
    Verb{"trust", k_joining, "Whose key is whose: pins, and what to give to others", &add_trust},
    Verb{"doctor", k_joining, "Check everything between here and the broker", &add_doctor},

    Verb{"offers", k_market, "What is on sale, best first", &add_offers},
    Verb{"hold", k_market, "Hold units of an offer", &add_hold},
    Verb{"contracts", k_market, "Contracts: see, confirm, extend, renew, release, end, meter",
         &add_contracts},
    Verb{"invoice", k_market, "What was bought and sold, and what it comes to", &add_invoice},
    Verb{"pools", k_market, "What providers sell from", &add_pools},
    Verb{"events", k_market, "What happens, as it happens", &add_events},

    Verb{"demo", k_trying, "Watch an hour of autoscaling on a market, by chance and by price",
         &add_demo},
    Verb{"cluster", k_trying, "Start and end clusters to try things on", &add_cluster},
    Verb{"sim", k_trying, "Simulate a federation under faults and check the laws", &add_sim},
    Verb{"conformance", k_trying, "Hold any server for the Cluster Autoscaler to its rules",
         &add_conformance},
    Verb{"validate", k_trying, "Check pool, offer, cluster and intent files", &add_validate},
    Verb{"completion", k_trying, "Completion for bash, zsh or fish", &add_completion},
};

}  // namespace

void add_verbs(Word spillway) {
  spillway.require_word();
  for (const Verb& verb : k_verbs) {
    const Word word = spillway.add(verb.name, verb.summary);
    verb.add(word);
    word.group(verb.group);  // only now: words after it would begin with its group
  }
}

}  // namespace spillway::cli
