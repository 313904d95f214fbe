// Papers: what a member keeps of its agreements, wherever it lives: its pins and one paper for each
// contract. Several processes of one identity share them, so every change is made on what is there
// at that moment, and is safe before its answer. Answers may come before a call returns.
//
// Papers of contracts that have ended stay: they are evidence. Who removes them, and when, is said
// by the place that keeps them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "services/agent/paper.h"
#include "services/agent/trust.h"

namespace spillway::agent {

// A damaged paper, which is evidence all the same: it is moved, never removed.
struct SetAside {
  std::string paper;   // where it lay
  std::string why;     // what is wrong with it
  std::string now_at;  // where it is now
};

class Papers {
 public:
  template <class T>
  using Then = std::function<void(Result<T>)>;
  using TrustChange = std::function<Status(TrustBook&)>;

  virtual ~Papers() = default;
  // A change that answers an error changes nothing, and ends with it.
  virtual void change_trust(TrustChange change, Then<TrustBook> then) = 0;
  // Invalid: one lies there and is damaged; the error names it.
  virtual void find(const ContractId& id, Then<std::optional<Paper>> then) = 0;
  // Adds what was heard to what is kept (paper.h, merged()), and answers with both. A damaged one
  // is set aside, and what was heard takes its place: so whoever keeps has verified it all.
  virtual void keep(const Paper& heard, Then<Paper> then) = 0;

  // Called when a damaged paper was set aside. Nobody need listen.
  std::function<void(const SetAside&)> on_set_aside;

  void read_trust(Then<TrustBook> then) {
    change_trust([](TrustBook&) { return Status(); }, std::move(then));
  }
  void believe(const ShownCard& card, Instant now, Then<model::Trust> then);
  // Its contract is closed. Of what nobody signed there is no paper, and nothing to do.
  void note_end(const ContractId& id, Instant now, std::function<void(Status)> then);

 protected:
  void tell_set_aside(const SetAside& aside) const {
    if (on_set_aside) on_set_aside(aside);
  }
};

// Ends with the process: for simulations and tests.
class MemoryPapers final : public Papers {
 public:
  void change_trust(TrustChange change, Then<TrustBook> then) override;
  void find(const ContractId& id, Then<std::optional<Paper>> then) override;
  void keep(const Paper& heard, Then<Paper> then) override;

  TrustBook trust;
  std::map<ContractId, Paper> papers;
};

}  // namespace spillway::agent
