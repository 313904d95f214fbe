// ClusterPapers: papers of a member that lives in its own cluster, as ConfigMaps of its namespace:
// there is nothing secret in them, and whoever may write there may replace the agent as well.
//
//   NAME-trust            trust.json: pins and policy; also written by spillway trust
//   NAME-paper-CONTRACT   paper.json; labelled spillway.dev/paper: NAME
//                         damaged.json: one that was set aside; at most three
//
// They are read anew each time. Of papers of contracts that have ended, the newest are kept so that
// there are k_most in all: a cluster's store is not an archive. Take copies of older ones with
// kubectl if you need them.
#pragma once

#include <string>
#include <vector>

#include "host/lifeline.h"
#include "kube/api.h"
#include "services/agent/papers.h"

namespace spillway::agent {

class ClusterPapers final : public Papers {
 public:
  static constexpr size_t k_most = 500;
  static constexpr const char* k_label = "spillway.dev/paper";
  static constexpr const char* k_ended = "spillway.dev/ended";  // annotation

  ClusterPapers(kube::Api& api, std::string space, std::string name)
      : api_(api), space_(std::move(space)), name_(std::move(name)) {}

  void change_trust(TrustChange change, Then<TrustBook> then) override;
  void find(const ContractId& id, Then<std::optional<Paper>> then) override;
  void keep(const Paper& heard, Then<Paper> then) override;

 private:
  // Reads the text of a ConfigMap (empty: there is none), lets `edit` make another of it, and
  // writes that, again when somebody was faster. The text as it is then.
  using Edit = std::function<Result<std::string>(const std::string&)>;
  struct Editing;
  void edit(const std::shared_ptr<Editing>& editing);
  void on_found(const std::shared_ptr<Editing>& editing, Result<kube::Object> found);
  void on_written(const std::shared_ptr<Editing>& editing, Result<kube::Object> written);
  void prune();

  kube::Name trust_name() const { return {space_, name_ + "-trust"}; }
  kube::Name paper_name(const ContractId& id) const {
    return {space_, name_ + "-paper-" + id.text};
  }

  kube::Api& api_;
  std::string space_;
  std::string name_;
  bool is_pruning_ = false;
  bool prune_again_ = false;
  host::Lifeline life_;
};

}  // namespace spillway::agent
