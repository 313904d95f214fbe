// Deliberate faults of the book and of those around it, for testing the tests: with each of them
// the simulator's checkers must cry. They exist only in builds with SPILLWAY_MUTANTS; elsewhere
// mutant() is constant false and costs nothing.
#pragma once

#include <array>
#include <string_view>

namespace spillway::market {

enum class Mutant {
  none,
  skip_cover,           // grants without looking at the pool
  ignore_version,       // commits without expecting the pool that it read
  double_count_retry,   // a retry of a hold is a new hold
  forget_release,       // released units are not given back to the pool
  release_twice,        // a retry of a release gives back once more
  forget_quota,         // an ended unit stays on the buyer's account
  forget_budget,        // an ended unit's promise stays on the buyer's budget
  sell_stale,           // sells for a provider that is silent
  sell_unconfirmed,     // sells after an outage before the provider has confirmed
  show_hidden,          // sells to those who may not see the offer
  forget_outage,        // lapses leases as if brokers never failed
  accept_older,         // an older publication replaces a newer one
  acknowledge_early,    // answers before the commit is durable
  silent_ending,        // ends contracts without an event
  forget_charge,        // a unit that ran costs nothing
  end_without_notice,   // a provider's notice ends a contract at once
  renew_beyond_budget,  // a renewal does not look at the budget
  below_at_least,       // grants fewer units than the buyer can use
  ignore_open_holds,    // does not count the holds that are open
  join_twice,           // a token that was used serves another key too
  join_late,            // a token serves after its end
  renew_revoked,        // an identity that was revoked gets another certificate
  sign_anything,        // what was signed is not held against the contract
  sign_late,            // a provider may sign after the time that the buyer's signature is good for
  replay_events,        // an event that was signed and heard before counts again
  share_liqo,           // two clusters may have the same id in Liqo
  forget_use,           // what was metered is not charged
  meter_beyond,         // a reading counts beyond what the unit's shape could have used
  meter_backwards,      // a reading may take back what was metered before
  bind_provider,        // a provider that ends a unit is paid for the minimum term all the same
  repeat_endings,       // that a lease ends is said again and again
  forget_drained,       // what is drained stays until its deadline
  drain_from_now,       // a lease drains from when the broker looks, and costs the buyer that long
  buy_uncovered,        // a spare is bought without looking at the pool
  spare_from_start,     // one that was bought costs from the start of its contract
  // in services/
  admit_revoked,        // a broker takes the certificate of one who was revoked
  tell_all,             // an event stream tells everybody everything
  resume_late,          // a stream that is resumed leaves out an event
  forget_carried,       // an agent confirms an epoch without what it carries
  reuse_reports,        // an agent that starts again counts its reports from one
  forget_pod_requests,  // an agent of a live cluster counts pods, and not what they request
  keep_deleted_pods,    // it does not hear that a pod is gone
  forget_grace,         // an agent ends what it carries with the lease, however silent the broker
  keep_orphans,         // it never ends what the broker says nothing of
  end_in_silence,       // it does not tell the broker what it has ended meanwhile
  hold_anew,            // an autoscaler asks again under another key
  keep_unreleased,      // it takes a unit for released once its node is gone
  send_unsaved,         // it asks for what it has not written down
  // in kube/
  forget_vanished,  // a watch that lists again does not say what vanished meanwhile
  // in services/fabric/
  keep_guests,     // a provider does not remove guests
  skip_fence,      // a buyer does not wait until its provider must have stopped what has identity
  forget_endings,  // that a unit is to end is not written down
  grant_double,    // a provider grants twice what was sold
  grant_spares,    // it grants spares that nobody has bought
  end_with_lease,  // an agent ends units with their lease, whatever the broker's silence
};

inline constexpr std::array<std::string_view, 56> k_mutant_names{"none",
                                                                 "skip-cover",
                                                                 "ignore-version",
                                                                 "double-count-retry",
                                                                 "forget-release",
                                                                 "release-twice",
                                                                 "forget-quota",
                                                                 "forget-budget",
                                                                 "sell-stale",
                                                                 "sell-unconfirmed",
                                                                 "show-hidden",
                                                                 "forget-outage",
                                                                 "accept-older",
                                                                 "acknowledge-early",
                                                                 "silent-ending",
                                                                 "forget-charge",
                                                                 "end-without-notice",
                                                                 "renew-beyond-budget",
                                                                 "below-at-least",
                                                                 "ignore-open-holds",
                                                                 "join-twice",
                                                                 "join-late",
                                                                 "renew-revoked",
                                                                 "sign-anything",
                                                                 "sign-late",
                                                                 "replay-events",
                                                                 "share-liqo",
                                                                 "forget-use",
                                                                 "meter-beyond",
                                                                 "meter-backwards",
                                                                 "bind-provider",
                                                                 "repeat-endings",
                                                                 "forget-drained",
                                                                 "drain-from-now",
                                                                 "buy-uncovered",
                                                                 "spare-from-start",
                                                                 "admit-revoked",
                                                                 "tell-all",
                                                                 "resume-late",
                                                                 "forget-carried",
                                                                 "reuse-reports",
                                                                 "forget-pod-requests",
                                                                 "keep-deleted-pods",
                                                                 "forget-grace",
                                                                 "keep-orphans",
                                                                 "end-in-silence",
                                                                 "hold-anew",
                                                                 "keep-unreleased",
                                                                 "send-unsaved",
                                                                 "forget-vanished",
                                                                 "keep-guests",
                                                                 "skip-fence",
                                                                 "forget-endings",
                                                                 "grant-double",
                                                                 "grant-spares",
                                                                 "end-with-lease"};

#ifdef SPILLWAY_MUTANTS
bool mutant(Mutant which);
bool set_mutant(std::string_view name);  // false: no such mutant
#else
constexpr bool mutant(Mutant) { return false; }
constexpr bool set_mutant(std::string_view name) { return name == k_mutant_names[0]; }
#endif

}  // namespace spillway::market
