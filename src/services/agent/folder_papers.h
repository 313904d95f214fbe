// FolderPapers: papers in the folder of the identity, so that all its processes share them: the
// agent, the autoscaler, and spillway itself.
//
//   papers/trust.json     pins and policy; also written by spillway trust
//   papers/CONTRACT.json  one for each contract; removed by spillway contracts papers --prune alone
//   papers/CONTRACT.json.damaged   one that was set aside; more of them end with -2, -3
//   papers/lock           whoever changes any of them holds it
//
// Files are private, and replaced as a whole. They are read anew each time.
#pragma once

#include <string>
#include <vector>

#include "services/agent/papers.h"

namespace spillway::agent {

class FolderPapers final : public Papers {
 public:
  explicit FolderPapers(const std::string& identity) : folder_(identity + "/papers") {}

  void change_trust(TrustChange change, Then<TrustBook> then) override {
    then(change_trust_now(change));
  }
  void find(const ContractId& id, Then<std::optional<Paper>> then) override { then(find_now(id)); }
  void keep(const Paper& heard, Then<Paper> then) override { then(keep_now(heard)); }

  Result<TrustBook> read_trust_now() const;
  Result<TrustBook> change_trust_now(const TrustChange& change);
  Result<std::optional<Paper>> find_now(const ContractId& id) const;
  Result<Paper> keep_now(const Paper& heard);

  struct All {
    std::vector<Paper> papers;   // the oldest first
    std::vector<Error> damaged;  // those that cannot be read, or used
  };
  Result<All> all() const;
  Status remove(const ContractId& id);
  const std::string& folder() const { return folder_; }

 private:
  Status set_aside(const ContractId& id, const Error& why);
  std::string path_of(const ContractId& id) const { return folder_ + "/" + id.text + ".json"; }
  std::string trust_path() const { return folder_ + "/trust.json"; }

  std::string folder_;
};

}  // namespace spillway::agent
