// What is done under an agreement: each deed is numbered, kept and sent.
#include <algorithm>
#include <utility>

#include "services/agent/signing.h"

namespace spillway::agent {
namespace {

using model::Contract;
using Kind = model::ContractEventKind;

constexpr int k_act_tries = 4;

Error not_more_of_it(const Contract& contract, const std::string& dispute) {
  return {Code::denied, "contract " + contract.id.text, "it is disputed: " + dispute,
          fmt::format("nothing more is signed for it; spillway contracts show {} --verify says all "
                      "that is known",
                      contract.id.text)};
}

// A deed by another key than the agreement's would be nobody's, and spoil what we keep.
Status check_own_key(const Paper& paper, const Signatory& signatory) {
  const auto agreed = read_paper(paper);
  if (!agreed) return tl::unexpected(agreed.error());
  const model::Signatory& own = own_side(agreed->agreement.agreement, signatory.cluster());
  if (own.key == signatory.key_text()) return {};
  return fail(Code::denied, "contract " + paper.contract.text,
              "it was signed with the key that we had before",
              "let its lease end; what is signed from now on has the new key");
}

// By the broker's deadline a promise would follow whatever the broker shows: so by our own clock,
// too, as far as clocks are apart, and an outage may have moved the end.
Instant longest_promise(const Contract& contract, Instant now) {
  const Duration lease = contract.terms.lease;
  return now + lease + lease + contract.terms.grace + minutes(10);
}

// Whether this is ours to say of such a contract. What is not, goes without a signature and is
// refused by the book: signed and kept, it would stand on our own paper for ever.
bool is_in_place(const Contract& row, const ClusterId& self, Kind kind) {
  if (!row.is_live() || !may_say(kind, row.buyer == self)) return false;
  if (kind == Kind::extension) return row.state == model::ContractState::hold;
  if (kind == Kind::renewal || kind == Kind::purchase) {
    return row.state == model::ContractState::active;
  }
  if (kind == Kind::drained) return row.state == model::ContractState::closing;
  // A hold may become active on the way.
  if (kind == Kind::release || kind == Kind::notice) return true;
  return row.started.has_value();
}

// Who does not sign sends the same without a signature.
void act_if_signed(Signing* signing, const ContractId& id, Signing::DeedOf deed,
                   wire::Then<wire::ContractAnswer> then, const Signing::Send& send) {
  if (signing == nullptr) return send({}, std::move(then));
  signing->act(id, std::move(deed), send, std::move(then));
}

bool has_event(const Paper& paper, const std::string& document) {
  return std::any_of(paper.events.begin(), paper.events.end(),
                     [&](const PaperEvent& kept) { return kept.document == document; });
}

Error overtaken(const ContractId& id) {
  return {Code::contended, "paper of contract " + id.text,
          "another process of this member signs under it all the time", "try again"};
}

}  // namespace

struct Signing::Act {
  ContractId id;
  DeedOf deed;
  Send send;
  wire::Then<wire::ContractAnswer> then;
  int tries = k_act_tries;
};

void Signing::act(const ContractId& id, DeedOf deed, Send send,
                  wire::Then<wire::ContractAnswer> then) {
  try_act(std::make_shared<Act>(
      Act{id, std::move(deed), std::move(send), std::move(then), k_act_tries}));
}

void Signing::try_act(const std::shared_ptr<Act>& act) {
  collect(act->id, [this, act](const Result<Known>& known) {
    if (!known) return act->then(tl::unexpected(known.error()));
    on_act_known(act, *known);
  });
}

void Signing::on_act_known(const std::shared_ptr<Act>& act, const Known& known) {
  Deed deed = act->deed(known.row);
  if (deed.kind == Kind::renewal)
    deed.until = std::min(*deed.until, longest_promise(known.row, now_()));
  // What binds us for longer follows only from what was signed. Giving back is always right.
  const bool is_more =
      deed.kind == Kind::renewal || deed.kind == Kind::extension || deed.kind == Kind::purchase;
  if (!known.dispute.empty() && is_more) {
    return act->then(tl::unexpected(not_more_of_it(known.row, known.dispute)));
  }
  const bool is_unsigned = !known.paper || known.row.agreement.empty();
  const bool is_done = deed.kind == Kind::purchase && deed.units.empty();
  if (is_unsigned || is_done || !is_in_place(known.row, signatory_.cluster(), deed.kind)) {
    return act->send({}, act->then);
  }
  const Paper& paper = *known.paper;
  if (Status own = check_own_key(paper, signatory_); !own) {
    return act->then(tl::unexpected(std::move(own).error()));
  }
  const int64_t number = last_number(paper, signatory_.cluster()) + 1;
  auto document = signatory_.sign({paper.agreement, paper.contract}, deed, number, now_());
  if (!document) return act->then(tl::unexpected(std::move(document).error()));
  Paper next = paper;
  next.events.push_back({signatory_.cluster(), number, deed.kind, *document});
  papers_.keep(next, life_.guard([this, act, number, event = *document](const Result<Paper>& kept) {
    const bool is_ours = kept && has_event(*kept, event);
    if (is_ours) {
      return act->send(event,
                       life_.guard([this, act, number](const Result<wire::ContractAnswer>& answer) {
                         on_acted(act, number, answer);
                       }));
    }
    // Without ours in it, another process has gone on beyond that number meanwhile.
    const Error why = kept ? overtaken(act->id) : kept.error();
    if (why.code == Code::contended && --act->tries > 0) return try_act(act);
    act->then(tl::unexpected(why));
  }));
}

// The book has heard of a higher number: another process of ours, with papers of its own.
void Signing::on_acted(const std::shared_ptr<Act>& act, int64_t number,
                       const Result<wire::ContractAnswer>& answer) {
  const bool may_be_late = !answer && answer.error().code == Code::conflict && --act->tries > 0;
  if (answer && answer->contract.id == act->id && !answer->contract.is_live()) {
    return papers_.note_end(act->id, now_(),
                            life_.guard([act, answer](const Status&) { act->then(answer); }));
  }
  if (!may_be_late) return act->then(answer);
  collect(act->id, [this, act, number, answer](const Result<Known>& known) {
    const bool was_late =
        known && known->paper && last_number(*known->paper, signatory_.cluster()) > number;
    if (!was_late) return act->then(answer);
    on_act_known(act, *known);
  });
}

void renew(wire::BrokerClient& client, Signing* signing, const ContractId& id,
           wire::Then<wire::ContractAnswer> then) {
  // By the book's clock, not ours: whatever ours says, it is late enough.
  const auto deed = [](const Contract& contract) {
    return Deed{.kind = Kind::renewal, .until = contract.deadline + contract.terms.lease};
  };
  act_if_signed(signing, id, deed, std::move(then), [client, id](const auto& event, auto sent) {
    wire::BrokerClient(client).renew(id, {event}, std::move(sent));
  });
}

void extend(wire::BrokerClient& client, Signing* signing, const ContractId& id, Duration ttl,
            Instant now, wire::Then<wire::ContractAnswer> then) {
  const auto deed = [ttl, now](const Contract& contract) {
    return Deed{.kind = Kind::extension, .until = std::max(now, contract.deadline) + ttl};
  };
  act_if_signed(signing, id, deed, std::move(then),
                [client, id, ttl](const auto& event, auto sent) {
                  wire::BrokerClient(client).extend(id, {ttl, event}, std::move(sent));
                });
}

void release(wire::BrokerClient& client, Signing* signing, const ContractId& id,
             std::vector<int32_t> units, wire::Then<wire::ContractAnswer> then) {
  // Each once: that is what is signed.
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  const auto deed = [units](const Contract&) {
    return Deed{.kind = Kind::release, .units = units};
  };
  act_if_signed(signing, id, deed, std::move(then),
                [client, id, units](const auto& event, auto sent) {
                  wire::BrokerClient(client).release(id, {units, event}, std::move(sent));
                });
}

void buy(wire::BrokerClient& client, Signing* signing, const ContractId& id,
         std::vector<int32_t> units, wire::Then<wire::ContractAnswer> then) {
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  // What was bought already needs no second promise.
  const auto deed = [units](const Contract& contract) {
    Deed purchase{.kind = Kind::purchase};
    for (const model::Unit& unit : contract.units) {
      const bool is_named = std::find(units.begin(), units.end(), unit.number) != units.end();
      if (is_named && unit.live && contract.is_spare(unit)) purchase.units.push_back(unit.number);
    }
    return purchase.units.empty() ? purchase : Deed{.kind = Kind::purchase, .units = units};
  };
  act_if_signed(signing, id, deed, std::move(then),
                [client, id, units](const auto& event, auto sent) {
                  wire::BrokerClient(client).buy(id, {units, event}, std::move(sent));
                });
}

void give_notice(wire::BrokerClient& client, Signing* signing, const ContractId& id,
                 wire::Then<wire::ContractAnswer> then) {
  const auto deed = [](const Contract&) { return Deed{.kind = Kind::notice}; };
  act_if_signed(signing, id, deed, std::move(then), [client, id](const auto& event, auto sent) {
    wire::BrokerClient(client).give_notice(id, {event}, std::move(sent));
  });
}

void drained(wire::BrokerClient& client, Signing* signing, const ContractId& id,
             wire::Then<wire::ContractAnswer> then) {
  const auto deed = [](const Contract&) { return Deed{.kind = Kind::drained}; };
  act_if_signed(signing, id, deed, std::move(then), [client, id](const auto& event, auto sent) {
    wire::BrokerClient(client).drained(id, {event}, std::move(sent));
  });
}

void meter_usage(wire::BrokerClient& client, Signing* signing, const ContractId& id,
                 std::vector<model::MeteredUse> used, wire::Then<wire::ContractAnswer> then) {
  const auto deed = [used](const Contract&) { return Deed{.kind = Kind::usage, .used = used}; };
  act_if_signed(signing, id, deed, std::move(then),
                [client, id, used](const auto& event, auto sent) {
                  wire::BrokerClient(client).meter_usage(id, {used, event}, std::move(sent));
                });
}

}  // namespace spillway::agent
