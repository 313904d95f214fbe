#include "services/fabric/visits.h"

#include <algorithm>
#include <utility>

#include "kube/token_source.h"
#include "services/fabric/resource.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

constexpr Duration k_patience = seconds(4);  // with one question

}  // namespace

Visits::Visit* Visits::under_way(const std::string& provider, uint64_t number) {
  const auto found = visits_.find(provider);
  return found != visits_.end() && found->second.number == number ? &found->second : nullptr;
}

// Never from within the visit's own client, which may end with it.
template <class F>
auto Visits::step(const Visit& visit, F then) {
  return life_.guard(
      [this, provider = visit.order.provider, number = visit.number, then](const auto&... heard) {
        own_.loop().post(life_.guard([this, provider, number, then, heard...] {
          if (Visit* still = under_way(provider, number)) then(*still, heard...);
        }));
      });
}

void Visits::go(const Order& order, const kube::Access& access) {
  const auto known = visits_.find(order.provider);
  if (!dial_ || known != visits_.end()) return;
  auto channel = dial_(access);
  if (!channel) return calls_.failed(order, channel.error());
  Visit visit;
  visit.order = order;
  visit.order.until = std::min(order.until, own_.loop().now() + k_longest);
  visit.number = ++number_;
  visit.space = access.space;
  visit.channel = std::move(*channel);
  visit.api = std::make_unique<kube::Api>(
      own_.loop(), own_.random(), *visit.channel,
      kube::ApiOptions{.prefix = access.prefix,
                       .tokens = std::make_shared<kube::FixedToken>(access.token),
                       .patience = k_patience});
  read_nonce(visits_.insert_or_assign(order.provider, std::move(visit)).first->second);
}

void Visits::end(const std::string& provider) {
  const auto found = visits_.find(provider);
  if (found == visits_.end()) return;
  own_.loop().post(life_.guard([this, provider, number = found->second.number] {
    if (under_way(provider, number) != nullptr) visits_.erase(provider);
  }));
}

void Visits::read_nonce(Visit& visit) {
  visit.api->get(kube::k_secrets, {visit.space, std::string(liqo::k_nonce_secret)},
                 step(visit, [this](Visit& still, const Result<kube::Object>& secret) {
                   if (!secret) return again(still, secret.error());
                   make_tenant(still, *secret);
                 }));
}

void Visits::make_tenant(Visit& visit, const kube::Object& secret) {
  const auto nonce = liqo::read_nonce(secret);
  if (!nonce) return again(visit, nonce.error());
  const auto tenant = calls_.tenant(nonce->nonce);
  if (!tenant) return again(visit, tenant.error());
  visit.api->create(resource_of(liqo::k_tenants), *tenant,
                    step(visit, [this](Visit& still, const Result<kube::Object>& made) {
                      const bool is_there = made || made.error().code == Code::conflict;
                      if (!is_there) return again(still, made.error());
                      look(still);
                    }));
}

void Visits::look(Visit& visit) {
  visit.api->get(resource_of(liqo::k_tenants), {visit.space, visit.order.buyer},
                 step(visit, [this](Visit& still, const Result<kube::Object>& seen) {
                   on_look(still, seen);
                 }));
}

void Visits::on_look(Visit& visit, const Result<kube::Object>& seen) {
  const bool is_shut_out = !seen && seen.error().code != Code::unavailable;
  if (is_shut_out || own_.loop().now() >= visit.order.until) return end(visit.order.provider);
  const auto tenant = seen.and_then(liqo::read_tenant);
  if (tenant && tenant->answer) {
    calls_.answered(visit.order, *tenant);
    return end(visit.order.provider);
  }
  own_.loop().after(k_look, step(visit, [this](Visit& still) { look(still); }));
}

// Of any kind: the guard may not have seen yet what it is to hold us to.
void Visits::again(Visit& visit, const Error& why) {
  const Instant now = own_.loop().now();
  if (now < visit.order.until) {
    return own_.loop().after(visit.backoff.next(own_.random(), seconds(2)),
                             step(visit, [this](Visit& still) { read_nonce(still); }));
  }
  end(visit.order.provider);
  calls_.failed(Order(visit.order), why);
}

}  // namespace spillway::agent
