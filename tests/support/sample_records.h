// One valid record of every kind, varied by a number: for tests of codecs and stores, which do not
// care what the market would make of them.
#pragma once

#include <string>

#include "market/events.h"
#include "market/records.h"
#include "model/price.h"

namespace spillway::test {

inline constexpr Instant k_sample_time{1'800'000'000'000};

inline ClusterId sample_cluster(int n) { return ClusterId("edge-" + std::to_string(n)); }
inline PoolId sample_pool_id(int n) { return PoolId(sample_cluster(n).text + "/standard"); }
inline OfferId sample_offer_id(int n) { return OfferId(sample_cluster(n).text + "/small"); }
inline ContractId sample_contract_id(int n) {
  return make_contract_id(k_sample_time + seconds(n), static_cast<uint64_t>(n), 7);
}

inline model::Resources sample_shape() {
  model::Resources shape;
  shape.cpu_millis = 1500;
  shape.memory_bytes = int64_t{4} << 30;
  shape.pods = 30;
  shape.gpus = {{"nvidia-a100", 1}};
  return shape;
}

inline model::Price sample_price() {
  model::Price price;
  price.unit_hour = 12'500;
  price.cpu_hour = 31'000;
  price.gpu_hour = {{"nvidia-a100", 1'250'000}};
  return price;
}

inline market::PoolRecord sample_pool(int n, int64_t sequence = 1) {
  market::PoolRecord record;
  record.pool.id = sample_pool_id(n);
  record.pool.node = sample_shape().times(4);
  record.pool.capacity = sample_shape().times(100);
  record.provider = sample_cluster(n);
  record.sequence = sequence;
  record.lease_until = k_sample_time + minutes(1);
  record.epoch = 1;
  record.committed = sample_shape().times(3);
  return record;
}

inline market::OfferRecord sample_offer(int n) {
  market::OfferRecord record;
  record.offer.id = sample_offer_id(n);
  record.offer.pool = sample_pool_id(n);
  record.offer.shape = sample_shape();
  record.offer.price = sample_price();
  record.offer.labels = {{"zone", "a"}};
  record.offer.place = {45'070'312, 7'686'856, "IT", "piemonte", "Torino"};
  record.offer.visibility.everyone = true;
  record.provider = sample_cluster(n);
  record.sequence = 1;
  return record;
}

inline market::AccountRecord sample_account(int n) {
  market::AccountRecord record;
  record.cluster.id = sample_cluster(n);
  record.cluster.labels = {{"tier", "gold"}};
  record.cluster.quota.units = 100;
  record.cluster.budget = model::Budget{{5'000'000'000, {}}, k_sample_time};
  record.units = 2;
  record.used = sample_shape().times(2);
  record.purses = {{{}, 2'500'000, 125}};
  return record;
}

inline model::Contract sample_contract(int n, int pool = 1) {
  model::Contract contract;
  contract.id = sample_contract_id(n);
  contract.buyer = sample_cluster(1000 + n % 7);
  contract.provider = sample_cluster(pool);
  contract.pool = sample_pool_id(pool);
  contract.offer = sample_offer_id(pool);
  contract.shape = sample_shape();
  contract.price = sample_price();
  contract.rate = model::hourly_rate(contract.price, contract.shape);
  contract.units.resize(2);
  contract.units[1].number = 1;
  for (model::Unit& unit : contract.units) unit.reserved = contract.rate;
  contract.created = k_sample_time;
  contract.deadline = k_sample_time + seconds(60 + n);
  return contract;
}

inline market::RequestRecord sample_request(int n) {
  market::RequestRecord record;
  record.buyer = sample_cluster(1000 + n % 7);
  record.key = "hold-" + std::to_string(n);
  record.body = Digest().add(int64_t{n}).value();
  market::Grant grant;
  grant.contract = sample_contract_id(n);
  grant.offer = sample_offer_id(1);
  grant.units = 2;
  grant.hold_until = k_sample_time + minutes(1);
  grant.rate = model::hourly_rate(sample_price(), sample_shape());
  record.grants = {grant};
  record.forget_at = k_sample_time + hours(24);
  return record;
}

inline std::string sample_key(int n) { return fmt::format("{:064x}", n); }
inline std::string sample_certificate(int n) {
  return fmt::format("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", n);
}

inline model::Identity sample_identity(int n) {
  model::Identity identity;
  identity.name = sample_cluster(n).text;
  identity.roles = {model::Role::provider, model::Role::consumer};
  identity.key = sample_key(n);
  identity.certificate = sample_certificate(n);
  identity.not_after = k_sample_time + hours(24);
  identity.since = k_sample_time;
  return identity;
}

inline market::TokenRecord sample_token(int n) {
  market::TokenRecord record;
  record.id = fmt::format("token-{}", n);
  record.name = sample_cluster(n).text;
  record.roles = {model::Role::consumer};
  record.labels = {{"tier", "gold"}};
  record.made = k_sample_time;
  record.expires = k_sample_time + hours(1);
  record.forget_at = k_sample_time + hours(25);
  return record;
}

inline std::string sample_key_text(int n) { return fmt::format("{:A>43}", n); }

inline market::CardRecord sample_card(int n) {
  return {.card = {.federation = "alps",
                   .cluster = sample_cluster(n),
                   .number = 3,
                   .key = sample_key_text(n),
                   .sealing = sample_key_text(1000 + n),
                   .liqo = fmt::format("liqo-{}", n)},
          .document = "{}"};
}

inline market::AgreementRecord sample_agreement(int n) {
  const model::Contract contract = sample_contract(n);
  market::AgreementRecord record;
  record.contract = contract.id;
  record.buyer = contract.buyer;
  record.provider = contract.provider;
  record.buyer_key = sample_key_text(n);
  record.provider_key = sample_key_text(1000 + n);
  record.id = sample_key(n);
  record.document = "{}";
  record.sign_by = contract.deadline;
  record.events.push_back({contract.provider, 1, model::ContractEventKind::accepted, "{}"});
  return record;
}

inline market::MailboxRecord sample_mailbox(int n) {
  return {.contract = sample_contract_id(n),
          .direction = market::Direction::to_buyer,
          .posted = {{3, Digest().add("three").value(), 4, k_sample_time, false},
                     {4, Digest().add("four").value(), 4, k_sample_time + minutes(10), true}},
          .forget_at = k_sample_time + hours(1)};
}

inline market::MessageRecord sample_message(int n, int64_t sequence = 4) {
  return {.contract = sample_contract_id(n),
          .direction = market::Direction::to_buyer,
          .sequence = sequence,
          .step = "nonce",
          .envelope = "AAECAw==",
          .expires = k_sample_time + minutes(10)};
}

inline market::Event sample_event(int n) {
  market::Event event;
  event.at = k_sample_time;
  event.kind = market::EventKind::contract_held;
  event.subject = sample_contract_id(n).text;
  event.pool = sample_pool_id(1);
  event.provider = sample_cluster(1);
  event.buyer = sample_cluster(1000 + n % 7);
  event.detail = "2 units";
  return event;
}

template <class T>
market::Record shared(T record) {
  return std::make_shared<const T>(std::move(record));
}

}  // namespace spillway::test
