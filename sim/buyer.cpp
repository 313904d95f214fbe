#include "sim/buyer.h"

namespace spillway::sim {

SimBuyer::SimBuyer(World& world, Network& network, std::vector<std::unique_ptr<SimBroker>>& brokers,
                   Address at, model::Cluster cluster, const std::vector<OfferId>& offers,
                   Laws& laws)
    : Party(world, network, brokers, at),
      cluster_(std::move(cluster)),
      offers_(offers),
      laws_(laws) {}

void SimBuyer::begin() {
  mine_.clear();
  act_later();
}

void SimBuyer::act_later() {
  process_.after(world_.between(milliseconds(500), seconds(4)), [this] {
    if (!is_retired()) {
      act();
      act_later();
    }
  });
}

void SimBuyer::act() {
  const auto dice = world_.below(100);
  if (mine_.empty() || dice < 35) return hold();
  if (dice < 45) return query();
  if (dice < 50) return trespass();
  const auto pick = std::next(mine_.begin(), static_cast<ptrdiff_t>(world_.below(mine_.size())));
  if (dice < 70) return give_back(pick->first);
  next_step(pick->first);
}

void SimBuyer::hold() {
  market::Hold hold;
  hold.buyer = cluster_.id;
  hold.key = fmt::format("key-{}", ++keys_);
  hold.ttl = world_.between(seconds(2), seconds(60));
  const auto lines = 1 + world_.below(10) / 8;
  for (uint64_t i = 0; i < lines; ++i) {
    const OfferId& offer = offers_[world_.below(offers_.size())];
    if (i == 1 && hold.lines[0].offer == offer) break;
    const auto units = static_cast<int32_t>(1 + world_.below(3));
    hold.lines.push_back({offer, units, world_.chance(500) ? 1 : units});
  }
  ask(hold, [this](Result<market::Answer> answer) {
    if (answer) on_held(*answer);
  });
}

void SimBuyer::on_held(const market::Answer& answer) {
  for (const market::Grant& grant : answer.grants) {
    mine_[grant.contract] = Stage::held;
    // Some holds are simply forgotten.
    if (world_.chance(850)) next_step(grant.contract);
  }
}

void SimBuyer::next_step(const ContractId& contract) {
  if (mine_[contract] == Stage::active) return keep_up(contract);
  if (world_.chance(150)) {
    ask(market::Extend{cluster_.id, contract, seconds(30)}, [](const Result<market::Answer>&) {});
    return;
  }
  ask(market::Confirm{cluster_.id, contract}, [this, contract](Result<market::Answer> answer) {
    if (answer) {
      mine_[contract] = Stage::active;
      keep_up(contract);
    } else {
      mine_.erase(contract);
    }
  });
}

void SimBuyer::keep_up(const ContractId& contract) {
  process_.after(world_.between(seconds(5), seconds(40)), [this, contract] {
    if (is_retired() || !mine_.contains(contract)) return;
    ask(market::Renew{cluster_.id, contract}, [this, contract](Result<market::Answer> answer) {
      if (!answer) {
        mine_.erase(contract);
      } else if (world_.chance(900)) {
        keep_up(contract);  // else: it forgets, and the lease lapses
      }
    });
  });
}

void SimBuyer::give_back(const ContractId& contract) {
  market::Release release{cluster_.id, contract, {}};
  if (world_.chance(500)) release.units = {0};
  ask(release, [this, contract](Result<market::Answer> answer) {
    const bool over = !answer || !answer->contract || !answer->contract->is_live();
    if (over) mine_.erase(contract);
  });
}

// A contract id is no secret; it opens nothing to others.
void SimBuyer::trespass() {
  const ContractId& known = mine_.begin()->first;
  const ClusterId stranger("stranger");
  const auto refused = [this](const Result<market::Answer>& answer) {
    laws_.expect(!answer, 5, "a stranger touched a contract");
  };
  ask(market::Look{stranger, known}, refused);
  ask(market::Release{stranger, known, {}}, refused);
}

model::Intent SimBuyer::invent_intent() {
  model::Intent intent;
  intent.shape.cpu_millis = 1000 * (1 + static_cast<int64_t>(world_.below(3)));
  intent.worth.distance_1000km = static_cast<int64_t>(world_.below(100'000));
  intent.near = model::Place{.latitude_microdegrees = 45'000'000,
                             .longitude_microdegrees = 7'600'000,
                             .country = "IT",
                             .region = {},
                             .city = {}};
  if (world_.chance(300)) intent.constraints.max_unit_hour = 500'000;
  return intent;
}

// Asked of a broker's memory directly: queries change nothing, so the network adds nothing.
void SimBuyer::query() {
  const host::CatalogueFeed* feed = brokers_[world_.below(brokers_.size())]->feed();
  if (feed == nullptr || !feed->is_ready()) return;
  const model::Intent intent = invent_intent();
  const auto ranking = feed->query(cluster_.id, intent, rank::Page{.size = 5, .cursor = {}},
                                   rank::Detail::every_offer);
  if (ranking) check_ranking(intent, *ranking);
}

void SimBuyer::check_ranking(const model::Intent& intent, const rank::Ranking& ranking) {
  int64_t ruled_out = 0;
  for (const rank::RuledOut& one : ranking.ruled_out) ruled_out += one.offers;
  laws_.expect(ranking.considered == ranking.fitting + ruled_out, 7,
               "a query does not say what became of every offer");
  laws_.expect(ranking.fitting > 0 || !ranking.why.empty(), 7, "an empty answer without a reason");
  int64_t last = INT64_MIN;
  for (const rank::Candidate& candidate : ranking.candidates) {
    int64_t sum = 0;
    for (const rank::Term& term : candidate.terms) sum += term.amount;
    laws_.expect(sum == candidate.score, 7, "a score is not the sum of its terms");
    laws_.expect(candidate.score >= last, 7, "a worse offer stands before a better one");
    last = candidate.score;
    laws_.expect(
        !intent.constraints.max_unit_hour || candidate.rate <= *intent.constraints.max_unit_hour, 7,
        "an offer beyond the cap was recommended");
  }
  for (const rank::Verdict& verdict : ranking.verdicts) {
    const auto* offer = laws_.rows().get<market::OfferRecord>(market::key_of(verdict.offer));
    laws_.expect(offer != nullptr && may_see(offer->offer.visibility, cluster_.id, cluster_.labels),
                 5, "a query tells of an offer that the buyer may not see");
  }
}

}  // namespace spillway::sim
