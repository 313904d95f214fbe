#include "supply/pending.h"

#include <algorithm>
#include <map>

namespace spillway::supply {
namespace {

using Candidates = std::vector<size_t>;  // drafts, in order

bool could_run(const View::Waiting& pod, const model::Resources& request, const PoolDraft& draft) {
  return std::any_of(
      draft.members.begin(), draft.members.end(), [&](const PoolDraft::Member& member) {
        const NodeRow& node = *member.node;
        const bool available = node.ready && !node.cordoned && !node.going;
        return available && node.allocatable.covers(request) && admits(*pod.placement, node);
      });
}

Candidates find_candidates(const View::Waiting& pod, const std::vector<PoolDraft>& drafts) {
  const model::Resources request = pod.requests.with_one_pod();
  Candidates candidates;
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (could_run(pod, request, drafts[i])) candidates.push_back(i);
  }
  return candidates;
}

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
  std::map<Fingerprint, Candidates> known;  // by kind: a thousand replicas are looked at once
  for (const auto& [key, pod] : view.waiting()) {
    explanation.pending_pods += 1;
    PendingVerdict verdict{key, {}, "gated: it wants no node yet"};
    if (!pod.gated) {
      auto at = known.find(pod.kind);
      if (at == known.end()) at = known.emplace(pod.kind, find_candidates(pod, drafts)).first;
      const PoolDraft* from = take(pod, at->second, drafts);
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
