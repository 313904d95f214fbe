// Signing: what a member does with its signature, step by step, over a broker that it does not
// trust. Everything is verified before anything follows from it, and written down before it is
// sent: whoever is killed in between sends the same again.
//
// Numbers of events are never used for two things, by whichever process of the member: the next one
// is above all that the broker shows and all that is kept, and is kept before it is sent. If
// another process was faster, another number is taken.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/lifeline.h"
#include "services/agent/evidence.h"
#include "services/agent/papers.h"
#include "services/agent/signatory.h"
#include "services/wire/broker_client.h"

namespace spillway::agent {

class Signing {
 public:
  template <class T>
  using Then = std::function<void(Result<T>)>;
  // Whether the contract is what was wanted. Asked before it is signed.
  using Check = std::function<Status(const model::Contract&)>;
  // What a provider knows of its own sales.
  struct Sales {
    // The offer of ours by that id, as published; null: there is none.
    std::function<const model::Offer*(const OfferId&)> offer;
    // Whether the pool has room for it beside all that is signed.
    std::function<Status(const model::Contract&)> cover;
  };
  // What will make a purchase real, to be signed with it: what this cluster will ask that provider
  // for. An error: it is not bought.
  using FabricOf =
      std::function<Result<model::Fabric>(const model::Contract&, const model::Card& provider)>;
  using DeedOf = std::function<Deed(const model::Contract&)>;
  using Send = std::function<void(const std::string& event, wire::Then<wire::ContractAnswer>)>;

  // What is known of a contract once everything was verified and kept.
  struct Known {
    model::Contract row;
    std::optional<Paper> paper;  // none: nobody has signed
    std::string dispute;         // evidence.h; empty: there is none
  };

  Signing(wire::BrokerClient client, Papers& papers, Signatory signatory,
          std::function<Instant()> now);

  void bind_fabric(FabricOf fabric_of) { fabric_of_ = std::move(fabric_of); }
  const Signatory& signatory() const { return signatory_; }
  Papers& papers() { return papers_; }

  // Shows our card to the broker, if it has another one or none. `liqo`: none given, the one that
  // is there stays.
  void show_card(std::optional<std::string> liqo, Then<model::Card> then);
  // The broker may have another one by now: it is asked again the next time.
  void forget_card() { own_.reset(); }
  // As the buyer. Ask again until the contract is active; then both signatures are verified and
  // kept. A provider that has no card, and never had one that we saw, is bought from unsigned.
  void sign(const ContractId& id, Check check, Then<model::Contract> then);
  // As the provider, what its buyer has signed. The contract as it is now.
  void countersign(const ContractId& id, Sales sales, Then<model::Contract> then);
  // Until when something may still come of our signature as the buyer: the provider's, under its
  // grace. None: we have signed nothing.
  void bound_until(const ContractId& id, Then<std::optional<Instant>> then);
  // Verifies and keeps all that was signed.
  void collect(const ContractId& id, Then<Known> then);
  // Once the contract was seen closed, by whoever sees it: what was signed last is fetched, and the
  // paper marked as one of the past.
  void note_end(const ContractId& id);
  // Signs a deed under a contract and sends it; with an empty event when nobody signed the
  // contract.
  void act(const ContractId& id, DeedOf deed, Send send, wire::Then<wire::ContractAnswer> then);

 private:
  struct Seen {
    Evidence evidence;
    std::optional<Paper> paper;
    std::string damaged;  // what is wrong with our paper; empty: it is good, or there is none
  };
  struct Act;

  Self self() const { return {signatory_.cluster(), signatory_.federation()}; }
  void look(const ContractId& id, Then<Seen> then);
  void on_own_card(const Result<wire::CardBody>& told, const std::optional<std::string>& liqo,
                   const Then<model::Card>& then);
  void put_card(const model::Card& card, const Then<model::Card>& then);
  void believe(const std::optional<pki::VerifiedCard>& card, const model::Signatory* side,
               Then<model::Trust> then);
  void keep_verified(const Seen& seen, Then<Known> then);
  void keep(const Seen& seen, const Then<Known>& then);
  void sign_seen(const Seen& seen, const model::Card& own, const Check& check,
                 const Then<model::Contract>& then);
  void sign_unsigned(const Seen& seen, const Then<model::Contract>& then);
  void sign_half(const Seen& seen, const model::Card& own, model::Trust trust,
                 const Then<model::Contract>& then);
  void countersign_seen(const Seen& seen, const model::Card& own, const Sales& sales,
                        const Then<model::Contract>& then);
  void countersign_believed(const Seen& seen, model::Trust trust,
                            const Then<model::Contract>& then);
  void send_countersigned(const Paper& paper, const Then<model::Contract>& then);
  void try_act(const std::shared_ptr<Act>& act);
  void on_act_known(const std::shared_ptr<Act>& act, const Known& known);
  void on_acted(const std::shared_ptr<Act>& act, int64_t number,
                const Result<wire::ContractAnswer>& answer);

  wire::BrokerClient client_;
  Papers& papers_;
  Signatory signatory_;
  std::function<Instant()> now_;
  FabricOf fabric_of_;              // null: no fabric is needed
  std::optional<model::Card> own_;  // as the broker has it
  host::Lifeline life_;
};

// The requests of a contract's life, signed where the contract is. Null: this member does not sign.
void renew(wire::BrokerClient& client, Signing* signing, const ContractId& id,
           wire::Then<wire::ContractAnswer> then);
void extend(wire::BrokerClient& client, Signing* signing, const ContractId& id, Duration ttl,
            Instant now, wire::Then<wire::ContractAnswer> then);
void buy(wire::BrokerClient& client, Signing* signing, const ContractId& id,
         std::vector<int32_t> units, wire::Then<wire::ContractAnswer> then);
void release(wire::BrokerClient& client, Signing* signing, const ContractId& id,
             std::vector<int32_t> units, wire::Then<wire::ContractAnswer> then);
void give_notice(wire::BrokerClient& client, Signing* signing, const ContractId& id,
                 wire::Then<wire::ContractAnswer> then);
void drained(wire::BrokerClient& client, Signing* signing, const ContractId& id,
             wire::Then<wire::ContractAnswer> then);
void meter_usage(wire::BrokerClient& client, Signing* signing, const ContractId& id,
                 std::vector<model::MeteredUse> used, wire::Then<wire::ContractAnswer> then);

}  // namespace spillway::agent
