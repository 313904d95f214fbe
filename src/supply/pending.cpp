#include "supply/pending.h"

#include <algorithm>
#include <map>

namespace spillway::supply {
namespace {

using Candidates = std::vector<size_t>;  // drafts, in order

// Looks for the pools on which pods could run, as long as it may.
class Search {
 public:
  explicit Search(const std::vector<PoolDraft>& drafts) : drafts_(drafts) {}

  const Candidates& of(const View::Waiting& pod) {
    const auto at = known_.find(pod.kind);
    if (at != known_.end()) return at->second;
    return known_.emplace(pod.kind, find(pod)).first->second;
  }

 private:
  Candidates find(const View::Waiting& pod) {
    const model::Resources request = pod.requests.with_one_pod();
    const auto names = named_nodes(*pod.placement);
    Candidates candidates;
    for (size_t i = 0; i < drafts_.size(); ++i) {
      const bool may = names ? runs_on_one_of(*names, pod, request, drafts_[i])
                             : runs_on_any(pod, request, drafts_[i]);
      if (may) candidates.push_back(i);
    }
    return candidates;
  }

  bool runs_on_any(const View::Waiting& pod, const model::Resources& request,
                   const PoolDraft& draft) {
    for (const PoolDraft::Member& member : draft.members) {
      if (looks_left_ == 0) return true;
      --looks_left_;
      if (could_run(pod, request, *member.node)) return true;
    }
    return false;
  }

  static bool runs_on_one_of(const std::vector<std::string_view>& names, const View::Waiting& pod,
                             const model::Resources& request, const PoolDraft& draft) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      const auto at = std::lower_bound(draft.members.begin(), draft.members.end(), name,
                                       [](const PoolDraft::Member& member, std::string_view n) {
                                         return member.node->name < n;
                                       });
      return at != draft.members.end() && at->node->name == name &&
             could_run(pod, request, *at->node);
    });
  }

  static bool could_run(const View::Waiting& pod, const model::Resources& request,
                        const NodeRow& node) {
    const bool available = node.ready && !node.cordoned && !node.going;
    return available && node.allocatable.covers(request) && admits(*pod.placement, node);
  }

  const std::vector<PoolDraft>& drafts_;
  std::map<Fingerprint, Candidates> known_;  // by kind: a thousand replicas are looked at once
  size_t looks_left_ = k_most_looks;
};

// Takes from the draft that it answers.
PoolDraft* take(const View::Waiting& pod, const Candidates& candidates,
                std::vector<PoolDraft>& drafts) {
  if (candidates.empty()) return nullptr;
  const model::Resources request = pod.requests.with_one_pod();
  const auto enough = [&](size_t i) {
    return drafts[i].pool.capacity.covers(by_model(request, drafts[i].key.gpus));
  };
  const auto found = std::find_if(candidates.begin(), candidates.end(), enough);
  PoolDraft& draft = drafts[found == candidates.end() ? candidates.front() : *found];
  draft.pool.capacity = rest_of(std::move(draft.pool.capacity), by_model(request, draft.key.gpus));
  return &draft;
}

}  // namespace

void keep_room(const View& view, std::vector<PoolDraft>& drafts, Explanation& explanation) {
  Search search(drafts);
  for (const auto& [key, pod] : view.waiting()) {
    explanation.pending_pods += 1;
    PendingVerdict verdict{key, {}, "gated: it wants no node yet"};
    if (!pod.gated) {
      const PoolDraft* from = take(pod, search.of(pod), drafts);
      verdict.sentence = from == nullptr ? "it could run on no node that is for sale"
                                         : "room for it is kept in " + from->id.text;
      if (from != nullptr) verdict.pool = from->id;
    }
    if (explanation.pending.size() < k_most_pending_told) {
      explanation.pending.push_back(std::move(verdict));
    }
  }
}

}  // namespace spillway::supply
