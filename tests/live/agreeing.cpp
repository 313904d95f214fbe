#include "live/agreeing.h"

#include "live/shop.h"
#include "model/card.h"
#include "pki/ed25519.h"
#include "pki/jws.h"
#include "pki/signed_documents.h"

namespace spillway::test {
namespace {

void must(const net::Response& response) { SPILLWAY_CHECK(response.status < 300, response.body); }

net::Request act_on(const ContractId& id, const std::string& verb, std::string body) {
  return Members::post("/v1/contracts/" + id.text + "/" + verb, std::move(body));
}

std::string accept(const model::Agreement& agreement, const Signer& seller) {
  model::ContractEvent accepted;
  accepted.agreement = pki::payload_id(to_payload(agreement));
  accepted.hold = agreement.hold;
  accepted.by = seller.cluster();
  accepted.key = agreement.provider.key;
  accepted.kind = model::ContractEventKind::accepted;
  accepted.at = wall_clock();
  accepted.trust = model::Trust::first_use;
  return *pki::sign(accepted, seller.key);
}

}  // namespace

model::Signatory Signer::signatory() const {
  return {cluster(), *pki::signing_key_text(key.public_key()), to_text(sealing.public_key()), 1};
}

std::unique_ptr<Signer> join_signer(Members& members, const std::string& name,
                                    const model::Roles& roles) {
  pki::Key key = pki::Key::generate_member();
  auto tls = members.join_with(members.make_token(name, roles), key);
  auto signer = std::make_unique<Signer>(
      Signer{{name, std::move(tls)}, std::move(key), pki::SealingKey::generate()});
  const model::Signatory as = signer->signatory();
  const model::Card card{"testers", as.cluster, 1, as.key, as.sealing, {}};
  const wire::CardBody body{*pki::sign(card, signer->key)};
  must(members.call(signer->papers, Members::put("/v1/cards/" + name, model::write_json(body))));
  return signer;
}

model::Agreement agree_over_the_wire(Members& members, const Signer& buyer, const Signer& seller,
                                     const std::string& key) {
  const auto held = members.call(buyer.papers, hold_one(key));
  must(held);
  const ContractId id = Members::read<wire::HoldAnswer>(held).grants.at(0).contract;
  const auto contract = Members::read<wire::ContractAnswer>(
      members.call(buyer.papers, Members::get("/v1/contracts/" + id.text)));
  model::Agreement agreement = agreement_on(contract.contract, "testers");
  agreement.buyer = buyer.signatory();
  agreement.provider = seller.signatory();
  const std::string half = *pki::sign(agreement, buyer.key);
  must(members.call(buyer.papers,
                    act_on(id, "confirm", model::write_json(wire::ConfirmRequest{half}))));
  const wire::CountersignRequest both{*pki::countersign(half, seller.key),
                                      accept(agreement, seller)};
  must(members.call(seller.papers, act_on(id, "countersign", model::write_json(both))));
  return agreement;
}

}  // namespace spillway::test
