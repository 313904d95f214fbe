#include "sim/buyer.h"

#include "pki/signed_documents.h"

namespace spillway::sim {

SimBuyer::SimBuyer(Surroundings& around, Address at, model::Cluster cluster,
                   const std::vector<OfferId>& offers)
    : Party(around, at, {cluster.id.text, {model::Role::consumer}, cluster.labels}),
      cluster_(std::move(cluster)),
      offers_(offers) {}

void SimBuyer::begin() {
  mine_.clear();
  if (has_joined()) begin_signing();
  act_later();
}

void SimBuyer::begin_signing() {
  if (!signs()) return;
  signing_ = std::make_unique<agent::Signing>(wire::BrokerClient(channel_), papers(), signatory(),
                                              [this] { return process_.now(); });
  // Some have Liqo, some of these somebody else's id.
  if (!world_.chance(300)) return;
  process_.after(world_.between(seconds(1), minutes(1)), [this] {
    if (signing_ == nullptr) return;
    signing_->show_card(fmt::format("liqo-{}", world_.below(3)), [](const Result<model::Card>&) {});
  });
}

// As agents do; now and then something else, to see whether it is taken.
void SimBuyer::sign(const ContractId& contract, Told then) {
  if (signing_ == nullptr) return client_.confirm(contract, {}, std::move(then));
  if (world_.chance(100)) return sign_oddly(contract, std::move(then));
  signing_->sign(
      contract, [](const model::Contract&) { return Status(); },
      [then = std::move(then)](Result<model::Contract> told) {
        if (!told) return then(tl::unexpected(told.error()));
        then(wire::ContractAnswer{std::move(*told)});
      });
}

// With other terms than were held, or good for a moment only.
void SimBuyer::sign_oddly(const ContractId& contract, Told then) {
  const bool is_brief = world_.chance(500);
  client_.get_agreement(contract, [this, contract, then = std::move(then),
                                   is_brief](const Result<wire::AgreementAnswer>& told) {
    const auto own = told ? pki::verify_card(told->buyer_card) : tl::unexpected(Error{});
    const auto other = told ? pki::verify_card(told->provider_card) : tl::unexpected(Error{});
    if (!own || !other || own->card.key != signatory().key_text()) return;
    model::Agreement agreement = agreement_on(told->contract, "sim");
    agreement.buyer = {own->card.cluster, own->card.key, own->card.sealing, own->card.number};
    agreement.provider = {other->card.cluster, other->card.key, other->card.sealing,
                          other->card.number};
    if (is_brief) {
      agreement.sign_by = std::min(agreement.sign_by, process_.now() + seconds(2));
    } else {
      agreement.terms.grace = agreement.terms.grace + minutes(1);
    }
    const auto document = pki::sign(agreement, key().key);
    if (document) client_.confirm(contract, {*document}, then);
  });
}

// One of its own, that the book has heard before.
void SimBuyer::repeat_event(const ContractId& contract) {
  const auto paper = papers().papers.find(contract);
  if (paper == papers().papers.end()) return;
  for (const agent::PaperEvent& event : paper->second.events) {
    if (event.kind != model::ContractEventKind::renewal || event.by != cluster_.id) continue;
    const std::string document = event.document;
    process_.after(world_.between(seconds(20), seconds(90)), [this, contract, document] {
      client_.renew(contract, {document}, [](const Result<wire::ContractAnswer>&) {});
    });
  }
}

void SimBuyer::act_later() {
  process_.after(world_.between(milliseconds(500), seconds(5)), [this] {
    if (has_joined()) follow();
    if (is_retired()) return;
    if (has_joined()) act();
    act_later();
  });
}

void SimBuyer::act() {
  const auto dice = world_.below(100);
  if (dice < 2) return renew();
  letters().chat();
  if (mine_.empty() || dice < 35) return hold();
  if (dice < 43) return query();
  if (dice < 46) return look_at_offer();
  if (dice < 48) return look_at_invoice();
  if (dice < 50) return trespass();
  const auto pick = std::next(mine_.begin(), static_cast<ptrdiff_t>(world_.below(mine_.size())));
  if (dice < 70) return give_back(pick->first);
  next_step(pick->first);
}

// Who is told to leave does, or just waits; one renews when it is told that its lease ends.
void SimBuyer::on_event(const wire::EventBody& event) {
  if (event.buyer != cluster_.id || is_retired()) return;
  const ContractId contract(event.subject);
  if (event.kind == "contract-closing" && world_.chance(500)) {
    process_.after(world_.between({}, seconds(20)), [this, contract] {
      ask([this, contract](Told then) { client_.drained(contract, {}, std::move(then)); });
    });
  } else if (event.kind == "contract-ending" && world_.chance(300)) {
    ask([this, contract](Told then) { client_.renew(contract, {}, std::move(then)); });
  }
}

// Now and then twice, as clients do that are not sure that they were heard.
void SimBuyer::ask(const Verb& verb, Told then) {
  if (world_.chance(50)) {
    process_.after(world_.between({}, seconds(5)),
                   [verb] { verb([](const Result<wire::ContractAnswer>&) {}); });
  }
  insist<wire::ContractAnswer>(verb, std::move(then));
}

// One that was recommended, or just any.
const OfferId& SimBuyer::pick_offer() {
  const bool any = liked_.empty() || world_.chance(400);
  const std::vector<OfferId>& from = any ? offers_ : liked_;
  return from[world_.below(from.size())];
}

void SimBuyer::hold() {
  wire::HoldRequest body;
  body.ttl = world_.between(seconds(2), seconds(60));
  const auto lines = 1 + world_.below(10) / 8;
  for (uint64_t i = 0; i < lines; ++i) {
    const OfferId& offer = pick_offer();
    if (i == 1 && body.lines[0].offer == offer) break;
    const auto units = static_cast<int32_t>(1 + world_.below(3));
    body.lines.push_back({offer, units, world_.chance(500) ? 1 : units, world_.chance(150)});
  }
  const auto ask_once = [this, key = fmt::format("key-{}", ++keys_),
                         body](wire::Then<wire::HoldAnswer> then) {
    client_.hold(key, body, std::move(then));
  };
  if (world_.chance(50)) {
    process_.after(world_.between({}, seconds(5)),
                   [ask_once] { ask_once([](const Result<wire::HoldAnswer>&) {}); });
  }
  insist<wire::HoldAnswer>(
      ask_once,
      [this](const Result<wire::HoldAnswer>& answer) {
        if (answer) on_held(*answer);
      },
      8);
}

void SimBuyer::on_held(const wire::HoldAnswer& answer) {
  for (const market::Grant& grant : answer.grants) {
    mine_[grant.contract] = Stage::held;
    around_.contracts.push_back(grant.contract);
    // Some holds are simply forgotten.
    if (world_.chance(850)) next_step(grant.contract);
  }
}

void SimBuyer::next_step(const ContractId& contract) {
  if (mine_[contract] == Stage::active) return keep_up(contract);
  if (world_.chance(150)) {
    ask([this, contract](Told then) {
      agent::extend(client_, signing_.get(), contract, seconds(30), process_.now(),
                    std::move(then));
    });
    return;
  }
  ask([this, contract](Told then) { sign(contract, std::move(then)); },
      [this, contract](const Result<wire::ContractAnswer>& answer) {
        if (!answer) {
          mine_.erase(contract);
        } else if (answer->contract.state == model::ContractState::active) {
          mine_[contract] = Stage::active;
          keep_up(contract);
        } else {  // the provider has not signed yet
          process_.after(world_.between(milliseconds(300), seconds(3)), [this, contract] {
            if (mine_.contains(contract)) next_step(contract);
          });
        }
      });
}

void SimBuyer::keep_up(const ContractId& contract) {
  process_.after(world_.between(seconds(5), seconds(40)), [this, contract] {
    if (is_retired() || !mine_.contains(contract)) return;
    if (world_.chance(200)) repeat_event(contract);
    if (world_.chance(500)) buy_spares(contract);
    ask([this,
         contract](Told then) { agent::renew(client_, signing_.get(), contract, std::move(then)); },
        [this, contract](const Result<wire::ContractAnswer>& answer) {
          if (!answer) {
            mine_.erase(contract);
          } else if (world_.chance(900)) {
            keep_up(contract);  // else: it forgets, and the lease lapses
          }
        });
  });
}

// Of a contract that has none it is refused, and that is fine.
void SimBuyer::buy_spares(const ContractId& contract) {
  const auto* row = laws_.rows().get<model::Contract>(market::key_of(contract));
  if (row == nullptr || (!row->spare && !world_.chance(50))) return;
  std::vector<int32_t> units{0};
  if (world_.chance(300)) units.push_back(1);
  ask([this, contract, units](Told then) {
    agent::buy(client_, signing_.get(), contract, units, std::move(then));
  });
}

void SimBuyer::give_back(const ContractId& contract) {
  wire::ReleaseRequest body;
  if (world_.chance(500)) body.units = {0};
  ask(
      [this, contract, body](Told then) {
        agent::release(client_, signing_.get(), contract, body.units, std::move(then));
      },
      [this, contract](const Result<wire::ContractAnswer>& answer) {
        if (!answer || !answer->contract.is_live()) mine_.erase(contract);
      });
}

// A contract id is no secret; it opens nothing to others, and tells them nothing: not even that
// there is such a contract.
void SimBuyer::trespass() {
  const auto& all = around_.contracts;
  const ContractId& known = all[world_.below(all.size())];
  const auto* row = laws_.rows().get<model::Contract>(market::key_of(known));
  if (row == nullptr || row->buyer == cluster_.id) return;
  const auto looks_missing = [this, known](const Result<wire::ContractAnswer>& answer) {
    laws_.expect(!answer, 5, fmt::format("{} touched a foreign contract", name()));
    if (answer || describe(answer.error().code).not_now) return;
    const bool unknown = answer.error().code == Code::not_found;
    laws_.expect(unknown || answer.error().code == Code::denied, 5,
                 fmt::format("{} can tell that contract {} is there: {}", name(), known.text,
                             answer.error().message()));
  };
  switch (world_.below(4)) {
    case 0:
      return client_.release(known, {}, looks_missing);
    case 1:
      return client_.confirm(known, {}, looks_missing);
    case 2:
      return client_.renew(known, {}, looks_missing);
    default:
      return client_.get_contract(known, looks_missing);
  }
}

bool SimBuyer::sees(const OfferId& offer) const {
  const auto* row = laws_.rows().get<market::OfferRecord>(market::key_of(offer));
  return row != nullptr && may_see(row->offer.visibility, cluster_.id, cluster_.labels);
}

void SimBuyer::look_at_offer() {
  const OfferId& offer = offers_[world_.below(offers_.size())];
  client_.get_offer(offer, [this, offer](const Result<wire::OfferRow>& row) {
    laws_.expect(!row || sees(offer), 5,
                 fmt::format("{} was shown {}, which it may not see", name(), offer.text));
  });
}

void SimBuyer::look_at_invoice() {
  wire::InvoiceAsked asked;
  asked.limit = static_cast<int32_t>(1 + world_.below(20));
  if (world_.chance(500)) asked.from = world_.now() - world_.between(seconds(1), minutes(10));
  client_.invoice(asked, [this](const Result<wire::InvoiceAnswer>& invoice) {
    if (!invoice) return;
    int64_t sum = 0;
    for (const market::InvoiceLine& line : invoice->lines) {
      laws_.expect(line.buyer == cluster_.id, 5,
                   fmt::format("{} was shown a foreign line of an invoice", name()));
      sum += line.amount;
    }
    for (const market::InvoiceTotal& total : invoice->totals) sum -= total.settled + total.running;
    laws_.expect(sum == 0, 1, "the totals of an invoice are not the sum of its lines");
  });
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

void SimBuyer::query() {
  wire::QueryRequest body;
  body.intent = invent_intent();
  body.limit = 5;
  body.explain = true;
  client_.query(body, [this, intent = body.intent](const Result<wire::QueryAnswer>& ranking) {
    if (!ranking) return;
    check_ranking(intent, *ranking);
    liked_.clear();
    for (const wire::Candidate& candidate : ranking->candidates) liked_.push_back(candidate.offer);
  });
}

void SimBuyer::check_ranking(const model::Intent& intent, const wire::QueryAnswer& ranking) {
  int64_t ruled_out = 0;
  for (const wire::RuledOut& one : ranking.ruled_out) ruled_out += one.offers;
  laws_.expect(ranking.considered == ranking.fitting + ruled_out, 7,
               "a query does not say what became of every offer");
  laws_.expect(ranking.fitting > 0 || !ranking.why.empty(), 7, "an empty answer without a reason");
  int64_t last = INT64_MIN;
  for (const wire::Candidate& candidate : ranking.candidates) {
    int64_t sum = 0;
    for (const wire::Term& term : candidate.terms) sum += term.amount;
    laws_.expect(sum == candidate.score, 7, "a score is not the sum of its terms");
    laws_.expect(candidate.score >= last, 7, "a worse offer stands before a better one");
    last = candidate.score;
    laws_.expect(
        !intent.constraints.max_unit_hour || candidate.rate <= *intent.constraints.max_unit_hour, 7,
        "an offer beyond the cap was recommended");
  }
  for (const wire::Verdict& verdict : ranking.verdicts) {
    laws_.expect(sees(verdict.offer), 5, "a query tells of an offer that the buyer may not see");
  }
}

}  // namespace spillway::sim
