// The laws, checked. Every commit is looked at as it is applied, every acknowledgement as it is
// given, and everything that was acknowledged again after each crash of the store. The checks
// recount from the rows and share no arithmetic with the book.
//
// clang-format off
//   1 cover      a grant is covered by its pool, quota and budget; sums are what they sum; charges;
//                an agent offers no more than is free in what it has seen of its cluster, and in the
//                end what is free there
//   2 durable    what was acknowledged is there; a key has one answer; log and versions have no gaps;
//                every broker hears every event once, in order; so does every party, of its own
//   3 owned      nothing stays behind: when all is quiet every contract is closed (settled()); no
//                more streams of a cluster are open than there are watches
//   4 calm       no lease ends before its deadline and the recorded outage; no unconfirmed pool
//                sells; an API server in trouble is not stormed
//   5 private    nobody is sold what it may not see; foreign contracts do not exist; a token serves one
//                key, in its time; who is revoked neither renews nor sells; nobody is told of events
//                or shown contracts of others; what is signed is signed by the keys of its parties, is
//                what the contract says, once and in time, and nobody keeps or signs anything else,
//                whatever a broker shows
//   7 explained  every refusal names the thing, the reason and the next step; every change of a
//                contract or identity has its event, and every event who caused it; scores are the
//                sums of their terms
// clang-format on
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/result.h"
#include "market/commands.h"
#include "market/rules.h"
#include "net/message.h"
#include "services/agent/live_supply.h"
#include "services/agent/paper.h"
#include "services/wire/bodies.h"
#include "sim/rows.h"
#include "sim/sale_sight.h"

namespace spillway::sim {

class Laws {
 public:
  Laws(const Rows& rows, market::Rules rules) : rows_(rows), rules_(rules) {}

  void on_commit(const host::Commit& commit, const Undo& undo);
  void on_answer(const market::Command& command, const Result<market::Answer>& answer);
  void on_event(const market::Event& event);  // that a broker was told of
  // An answer on the wire, to whoever goes by that name. Tells of whom it says that it is revoked.
  std::optional<wire::IdentityRow> on_response(const std::string& caller,
                                               const net::Request& request,
                                               const net::Response& response);
  // `name` was told of event `sequence`; before it, of `last` (-1: from anywhere on).
  void on_told(const std::string& name, int64_t last, int64_t sequence);
  // Nothing that concerns `name` came after `last`, but for what has only just happened.
  void check_told_all(const std::string& name, int64_t last);
  void on_store_crash();
  void settled();
  // laws_supply.cpp: of providers that sell from a live cluster.
  // A request has arrived at its API server, of which so many may within a minute.
  void on_cluster_asked(const std::string& name, int most);
  // All its nodes together, as its agent sees them now.
  void on_cluster_size(const ClusterId& provider, const model::Resources& size);
  void check_computed(const supply::Supply& supply, const agent::LiveSupply& live,
                      const std::vector<supply::Sold>& sold, const supply::OfferingPolicy& policy);
  // laws_signed.cpp: what a provider sends as signed by both, and what a member keeps.
  void check_countersigned(const std::string& provider, const std::string& document);
  void check_paper(const std::string& owner, const agent::Paper& paper);
  // Messages of the relay: one was given a number; one was handed over, after `last`.
  void on_said(const ClusterId& by, const ContractId& contract, int64_t number,
               const std::string& body);
  void on_heard(const ClusterId& by, const ContractId& contract, int64_t last, int64_t number,
                const std::string& body);
  // When all is quiet: what the book has on sale is what is free.
  void check_published(const ClusterId& provider, const model::Resources& free);

  const std::optional<std::string>& broken() const { return broken_; }
  uint64_t checks() const { return checks_; }
  const Rows& rows() const { return rows_; }
  void set_clock(std::function<Instant()> clock) { clock_ = std::move(clock); }
  // When `name` was revoked, by the world's clock.
  std::optional<Instant> revoked_since(const std::string& name) const;

  // For laws that are checked elsewhere (queries).
  void expect(bool holds, int law, const std::string& what);

 private:
  struct Acknowledged {
    int32_t units = 0;
    bool confirmed = false;
    std::set<int32_t> released;
    std::map<int32_t, model::Use> metered;
    std::map<int32_t, Instant> bought;
    Instant lease_until;
  };

  // laws_sums.cpp
  void check_pool(const market::Key& key, const SaleSight* sold);  // null: nothing was
  void check_account(const market::Key& key, const Undo& undo, bool grew);
  // laws_contract.cpp
  void check_contract(const model::Contract* before, const model::Contract& after,
                      const host::Commit& commit, const SaleSight& sales);
  void check_ladder(const model::Contract& before, const model::Contract& after);
  void check_calm(const model::Contract& before, const model::Contract& after, Instant at);
  Instant lease_end_of(const model::Contract& before) const;
  // laws_money.cpp
  void check_metered(const model::Contract& before, const model::Contract& after, Instant at);
  Instant paid_until(const model::Contract& before, const model::Contract& after, Instant at) const;
  void check_charges(const model::Contract& before, const model::Contract& after, Instant at);
  void check_invoices();
  void check_leaving(const model::Contract& before, const model::Contract& after,
                     const host::Commit& commit);
  void check_sale(const model::Contract& contract, const SaleSight& sales, Instant at);
  void check_purchase(const model::Contract& before, const model::Contract& after,
                      const SaleSight& sales, Instant at);
  void check_purchases(const model::Contract& after, const market::AgreementRecord& record);
  static bool has_bought(const model::Contract& before, const model::Contract& after);
  void check_endings(const model::Contract& before, const model::Contract& after,
                     const host::Commit& commit);
  // laws_identity.cpp
  void check_token(const market::Record& before, const market::Record& after, Instant at);
  void check_identity(const std::string& name, const market::Record& before,
                      const host::Commit& commit, const Undo& undo);
  void check_seller(const market::PoolRecord& pool);
  void check_origin(const market::Event& event);
  void on_identity_answer(const market::Command& command, const market::Answer& answer);
  void check_acknowledged_identities();
  // laws_signed.cpp
  void check_card(const market::CardRecord& record, const Undo& undo);
  bool is_key_of(const ClusterId& cluster, const std::string& key) const;
  void check_agreement(const market::AgreementRecord* was, const market::AgreementRecord& is,
                       Instant at);
  void check_signed_events(const market::AgreementRecord& was, const market::AgreementRecord& is);
  void check_signatures(const model::Contract* before, const model::Contract& after,
                        const Undo& undo, const host::Commit& commit);
  bool is_promised(const market::AgreementRecord& record, Instant until) const;
  // laws_wire.cpp
  void check_problem(const std::string& caller, const net::Request& request,
                     const net::Response& response);
  void check_snapshot(const std::string& caller, const wire::SnapshotAnswer& snapshot);
  void on_contract_answer(const std::string& caller, const net::Request& request,
                          const net::Response& response);
  void on_agreement_answer(const std::string& caller, const net::Request& request,
                           const net::Response& response);
  void on_hold_answer(const std::string& caller, const net::Request& request,
                      const net::Response& response);
  void on_join_answer(const net::Request& request, const net::Response& response);
  bool sees_all(const std::string& name) const;
  bool concerns(int64_t sequence, const std::string& name) const;
  void remember_events(const host::Commit& commit);
  // laws.cpp
  void check_on_sale(const market::Key& pool, Instant at);
  void check_sequence(const market::Record& before, const market::Record& after);
  void check_request(const market::Record& before, const market::Record& after, Instant at);
  void check_outage(const host::Commit& commit, const Undo& undo);
  void check_acknowledged(const std::string& id, const Acknowledged& ack);

  const Rows& rows_;
  market::Rules rules_;
  std::optional<std::string> broken_;
  uint64_t checks_ = 0;
  std::map<std::string, Acknowledged> acknowledged_;
  std::map<std::string, std::string> joined_;  // token → the key that was told that it has joined
  std::map<std::string, Instant> revoked_;     // name → since when, as somebody was told
  std::map<std::string, Instant> revoked_at_;  // name → when, by the world's clock
  std::function<Instant()> clock_ = [] { return Instant{}; };

  // Whose business an event is; of all that ever were, for the log forgets.
  struct Business {
    bool of_all = false;
    std::string provider;
    std::string buyer;
    Instant at;  // by the world's clock
  };
  std::vector<Business> history_;  // of event 1, 2, …

  struct Asking {  // of an API server, in the present minute
    int64_t minute = -1;
    int count = 0;
  };
  std::map<std::string, Asking> asked_;

  struct Selling {          // from a live cluster
    model::Resources most;  // that its nodes ever had together
    std::set<std::string> pools;
  };
  std::map<std::string, Selling> selling_;  // by provider

  std::map<std::string, std::set<std::string>> keys_;  // that each cluster has ever shown
  // Contract, speaker, number and body: who was killed may use a number again that nobody heard.
  std::set<std::tuple<std::string, std::string, int64_t, std::string>> said_;
};

}  // namespace spillway::sim
