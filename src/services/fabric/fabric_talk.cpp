// What the other side says of a contract, and what is taken of it.
#include <algorithm>
#include <utility>

#include "services/fabric/fabric.h"

namespace spillway::agent {

FabricContract* Fabric::heard_on(const Received& message, bool as_buyer) {
  adopt();  // the first word may be faster than the news of the contract
  const model::Contract* row = contract(message.contract);
  const auto kept = state().contracts.find(message.contract);
  if (row == nullptr || kept == state().contracts.end()) {
    refuse(message, {Code::denied, "contract " + message.contract.text,
                     "it is none that the fabric makes real", "say nothing of it"});
    return nullptr;
  }
  if (is_bought(*row) == as_buyer) return &kept->second;
  refuse(message, {Code::denied, "contract " + message.contract.text,
                   fmt::format("\"{}\" is not for its {} to say", message.step,
                               as_buyer ? "buyer" : "provider"),
                   "say it on a contract of the other kind"});
  return nullptr;
}

void Fabric::refuse(const Received& message, const Error& why) {
  refused_ += 1;
  log_.write(services::Level::warning, "message refused",
             {{"contract", message.contract.text}, {"step", message.step}, {"why", why.message()}});
  const model::Contract* row = contract(message.contract);
  const auto kept = state().contracts.find(message.contract);
  if (row == nullptr || kept == state().contracts.end()) return;
  refusals_.insert_or_assign(
      message.contract,
      fabric::Trouble{"contract " + message.contract.text,
                      fmt::format("what the other side says of it (\"{}\") is refused: {}: {}",
                                  message.step, why.thing, why.reason),
                      why.next});
  change(peer_of(*row, kept->second.part));
}

void Fabric::hear_of_nonce(const Received& message) {
  FabricContract* kept = heard_on(message, true);
  if (kept == nullptr) return;
  auto talk = hear_nonce(message.body);
  if (!talk) return refuse(message, talk.error());
  const bool asks = options_.handshake.asks && talk->hands_out && options_.pulse.dial &&
                    !disappointing_.contains(kept->part.provider);
  offered_.erase(message.contract);
  if (asks) offered_[message.contract] = talk->nonce;
  kept->nonce = std::move(talk->nonce);
  look_now(kept->part.provider);
}

// Saved first: a provider that was killed with a unit in its record, and has not written down with
// which request, would deny its slice until the request is heard again.
void Fabric::hear_of_request(const Received& message) {
  FabricContract* kept = heard_on(message, false);
  if (kept == nullptr) return;
  auto talk = hear_request(message.body, {kept->part, unit_names(*contract(message.contract))});
  if (!talk) return refuse(message, talk.error());
  if (talk->proof && !talk->proof->is_signed()) handouts_.asked_again(kept->part.buyer);
  refusals_.erase(message.contract);
  const auto before = kept->request;
  add_heard(kept->request, std::move(*talk));
  if (kept->request != before) save_then_look(message.contract);  // said again costs nothing
}

void Fabric::hear_of_identity(const Received& message) {
  FabricContract* kept = heard_on(message, true);
  if (kept == nullptr) return;
  auto talk = hear_identity(message.body, {kept->part, unit_names(*contract(message.contract))},
                            options_.api_servers, networks_.in_band(kept->part.provider));
  if (!talk) return refuse(message, talk.error());
  visits_.end(kept->part.provider);
  auto units = std::exchange(talk->units, {});
  take_identity(message.contract, *kept, std::move(units), std::move(*talk));
}

bool Fabric::are_all_accepted(const std::string& provider, const std::vector<std::string>& units) {
  const auto& seen = sights_.buyer(provider).units;
  const auto is_accepted = [&seen](const std::string& unit) {
    const auto found = seen.find(unit);
    return found != seen.end() && found->second.slice &&
           found->second.slice->is_accepted(fabric::liqo::k_authentication_condition);
  };
  return !units.empty() && std::all_of(units.begin(), units.end(), is_accepted);
}

void Fabric::take_identity(const ContractId& contract, FabricContract& kept,
                           std::vector<std::string> units, fabric::IdentityTalk identity) {
  refusals_.erase(contract);
  auto& known = state().bought_from[kept.part.provider].identity;
  // It says so until it sees the slices.
  const bool is_waiting = are_all_accepted(kept.part.provider, units);
  if (is_waiting && waiting_.insert(kept.part.provider).second) change(kept.part.provider);
  if (kept.recorded == units && known == identity) return;
  kept.recorded = std::move(units);
  known = std::move(identity);
  look_now(kept.part.provider);
}

}  // namespace spillway::agent
