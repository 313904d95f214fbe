#include "services/agent/notice_giver.h"

#include <algorithm>

#include "services/agent/notices.h"

namespace spillway::agent {

void NoticeGiver::on_event(const wire::EventBody& event) {
  if (event.kind != "pool-oversold" && event.kind != "pool-covered") return;
  const auto found = context_.state().pools.find(event.pool);
  if (event.provider != context_.options.cluster || found == context_.state().pools.end()) return;
  found->second.oversold = event.kind == "pool-oversold";
  context_.keeper.touch();
  context_.log.write(services::Level::warning, event.kind,
                     {{"pool", event.pool.text}, {"detail", event.detail}});
  context_.wake_by(context_.now());
}

Instant NoticeGiver::step() {
  if (tenancy_.is_looking()) return k_never;
  std::erase_if(notices_, [this](const auto& entry) {
    return !entry.second.attempt.in_flight && !context_.state().contracts.contains(entry.first);
  });
  const Instant now = context_.now();
  Instant next = k_never;
  for (const auto& [pool, memory] : context_.state().pools) {
    if (!memory.oversold || !memory.published) continue;
    for (const ContractId& id :
         choose_to_notice(memory.published->capacity, tenancy_.sold_from(pool))) {
      Notice& notice = notices_[id];
      if (notice.given || notice.attempt.in_flight) continue;
      if (!notice.attempt.is_due(now, host::k_refused_wait)) {
        next = std::min(next, notice.attempt.due);
      } else if (in_flight_ < k_most_in_flight) {
        give(id, notice);
      }
    }
  }
  return next;
}

void NoticeGiver::give(const ContractId& id, Notice& notice) {
  notice.attempt.in_flight = true;
  in_flight_ += 1;
  context_.log.write(services::Level::warning, "giving notice", {{"contract", id.text}});
  give_notice(context_.client, context_.signing, id,
              life_.guard([this, id](const Result<wire::ContractAnswer>& answer) {
                in_flight_ -= 1;
                context_.wake_by(context_.now());
                on_answer(id, answer);
              }));
}

void NoticeGiver::on_answer(const ContractId& id, const Result<wire::ContractAnswer>& answer) {
  Notice& notice = notices_[id];
  notice.attempt.in_flight = false;
  if (answer && answer->contract.id == id) {
    notice.given = true;
    return tenancy_.put(answer->contract);
  }
  if (answer) return tenancy_.look_at(id);
  notice.attempt.fail(context_, "notice not given", answer.error());
  context_.wake_by(notice.attempt.due);
  if (describe(answer.error().code).not_now) return;
  notice.given = true;
  tenancy_.look_at(id);
}

}  // namespace spillway::agent
