#include "services/wire/convert.h"

#include "market/metering.h"
#include "market/outage.h"
#include "services/wire/fields.h"

namespace spillway::wire {

PoolRow row_of(const market::PoolRecord& record) {
  return {record.pool,        record.provider,      record.sequence, record.withdrawn,
          record.lease_until, record.epoch,         record.report,   record.committed,
          record.unaccounted, record.oversold_since};
}

OfferRow row_of(const market::OfferRecord& record) {
  return {record.offer, record.provider, record.sequence, record.withdrawn};
}

model::Cluster row_of(const market::AccountRecord& record) { return record.cluster; }

IdentityRow row_of(const model::Identity& identity) {
  return {identity.name,  identity.roles,     identity.key,
          identity.since, identity.not_after, identity.revoked};
}

TokenRow row_of(const market::TokenRecord& record) {
  return {record.id, record.name, record.roles, record.labels, record.expires, !record.key.empty()};
}

QueryAnswer answer_of(const rank::Ranking& ranking) {
  QueryAnswer answer;
  answer.outcome = rank::to_text(ranking.outcome);
  answer.why = ranking.why;
  answer.currency = ranking.currency;
  answer.considered = ranking.considered;
  answer.fitting = ranking.fitting;
  for (const rank::RuledOut& out : ranking.ruled_out) {
    answer.ruled_out.push_back({std::string(rank::to_text(out.reason)), out.offers});
  }
  for (const rank::Candidate& candidate : ranking.candidates) {
    Candidate& told = answer.candidates.emplace_back(Candidate{candidate.offer,
                                                               candidate.provider,
                                                               candidate.pool,
                                                               candidate.free_units,
                                                               candidate.rate,
                                                               candidate.distance_metres,
                                                               candidate.carbon,
                                                               candidate.heard,
                                                               candidate.score,
                                                               {}});
    for (const rank::Term& term : candidate.terms) {
      told.terms.push_back({std::string(term.name), term.amount, term.how, term.estimated});
    }
  }
  for (const rank::Verdict& verdict : ranking.verdicts) {
    const std::string reason(verdict.ruled_out_by ? rank::to_text(*verdict.ruled_out_by) : "");
    answer.verdicts.push_back({verdict.offer, reason, verdict.score, verdict.sentence});
  }
  answer.next = ranking.next_cursor;
  return answer;
}

ContractAnswer answer_of(const model::Contract& contract) {
  ContractAnswer told{contract, market::paid_anyway_until(contract)};
  if (contract.is_live()) told.ends_no_later_than = market::ends_no_later_than(contract);
  return told;
}

EventBody body_of(const market::Event& event, bool with_origin) {
  return {event.sequence,
          event.at,
          std::string(market::to_text(event.kind)),
          event.subject,
          event.pool,
          event.provider,
          event.buyer,
          event.detail,
          with_origin ? event.by : std::string(),
          with_origin ? event.request : std::string()};
}

std::string event_json(const market::Event& event, bool with_origin) {
  return model::write_json(body_of(event, with_origin));
}

}  // namespace spillway::wire
