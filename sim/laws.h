// The laws, checked. Every commit is looked at as it is applied, every acknowledgement as it is
// given, and everything that was acknowledged again after each crash of the store. The checks
// recount from the rows and share no arithmetic with the book.
//
// clang-format off
//   1 cover      a grant is covered by its pool, quota and budget; sums are what they sum; charges
//   2 durable    what was acknowledged is there; a key has one answer; log and versions have no gaps;
//                every broker hears every event once, in order
//   3 owned      nothing stays behind: when all is quiet every contract is closed (settled())
//   4 calm       no lease ends before its deadline and the recorded outage; no unconfirmed pool sells
//   5 private    nobody is sold what it may not see; foreign contracts do not exist; a token serves one
//                key, in its time; who is revoked neither renews nor sells
//   7 explained  every refusal names the thing, the reason and the next step; every change of a
//                contract or identity has its event, and every event who caused it; scores are the
//                sums of their terms
// clang-format on
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "market/commands.h"
#include "market/rules.h"
#include "sim/rows.h"

namespace spillway::sim {

class Laws {
 public:
  Laws(const Rows& rows, market::Rules rules) : rows_(rows), rules_(rules) {}

  void on_commit(const host::Commit& commit, const Undo& undo);
  void on_answer(const market::Command& command, const Result<market::Answer>& answer);
  void on_event(const market::Event& event);  // that a broker was told of
  void on_store_crash();
  void settled();

  const std::optional<std::string>& broken() const { return broken_; }
  uint64_t checks() const { return checks_; }
  const Rows& rows() const { return rows_; }

  // For laws that are checked elsewhere (queries).
  void expect(bool holds, int law, const std::string& what);

 private:
  struct Acknowledged {
    int32_t units = 0;
    bool confirmed = false;
    std::set<int32_t> released;
    Instant lease_until;
  };

  // laws_sums.cpp
  void check_pool(const market::Key& key, bool sold);
  void check_account(const market::Key& key, const Undo& undo, bool grew);
  // laws_contract.cpp
  void check_contract(const model::Contract* before, const model::Contract& after,
                      const host::Commit& commit);
  void check_ladder(const model::Contract& before, const model::Contract& after);
  void check_calm(const model::Contract& before, const model::Contract& after, Instant at);
  void check_charges(const model::Contract& before, const model::Contract& after, Instant at);
  void check_leaving(const model::Contract& before, const model::Contract& after,
                     const host::Commit& commit);
  void check_sale(const model::Contract& contract, Instant at);
  // laws_identity.cpp
  void check_token(const market::Record& before, const market::Record& after, Instant at);
  void check_identity(const std::string& name, const market::Record& before,
                      const host::Commit& commit, const Undo& undo);
  void check_seller(const market::PoolRecord& pool);
  void check_origin(const market::Event& event);
  void on_identity_answer(const market::Command& command, const market::Answer& answer);
  void check_acknowledged_identities();
  // laws.cpp
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
};

}  // namespace spillway::sim
