#include "cli/signed_session.h"

#include <cstdio>

#include "cli/safe_text.h"
#include "cli/waiting.h"
#include "cli/when.h"

namespace spillway::cli {
namespace {

constexpr std::chrono::milliseconds k_between_looks{200};

}  // namespace

void tell_set_aside(const agent::SetAside& aside) {
  fmt::print(stderr,
             "spillway: {} is damaged: {}; set aside as {}, and what was verified is kept\n",
             safe(aside.paper), safe(aside.why), safe(aside.now_at));
}

SignedSession::SignedSession(Session& session, const std::string& dir)
    : session_(session), papers_(dir) {
  papers_.on_set_aside = tell_set_aside;
  const auto member = agent::load_credentials(dir);
  if (!member || !is_cluster(member->roles)) return;
  auto self = agent::Signatory::of(*member);
  if (!self) return;
  signing_.emplace(session.broker(), papers_, std::move(*self), [] { return now(); });
}

Result<model::Contract> SignedSession::sign_once(const ContractId& id,
                                                 const agent::Signing::Check& check) {
  return session_.wait<model::Contract>([this, id, check](wire::Then<model::Contract> then) {
    signing_->sign(id, check, std::move(then));
  });
}

SignedSession::Told SignedSession::confirm(const ContractId& id, const agent::Signing::Check& check,
                                           std::chrono::milliseconds patience) {
  if (!signing_) return session_.ask(&wire::BrokerClient::confirm, id, wire::ConfirmRequest{});
  model::Contract contract;
  const auto active = wait_until(patience, k_between_looks, [&]() -> Result<bool> {
    auto told = sign_once(id, check);
    if (!told) return tl::unexpected(std::move(told).error());
    contract = std::move(*told);
    return contract.state != model::ContractState::hold;
  });
  if (!active) return tl::unexpected(active.error());
  if (*active) return wire::ContractAnswer{contract};
  return fail(Code::taken, "contract " + id.text,
              fmt::format("it is signed by us, and {} has not signed it within {} s",
                          contract.provider.text,
                          std::chrono::duration_cast<std::chrono::seconds>(patience).count()),
              fmt::format("it is held until {}; wait on with: spillway contracts confirm {}",
                          to_text(contract.deadline), id.text));
}

SignedSession::Told SignedSession::renew(const ContractId& id) {
  return session_.wait<wire::ContractAnswer>(
      [this, id](auto then) { agent::renew(session_.broker(), signing(), id, std::move(then)); });
}

SignedSession::Told SignedSession::extend(const ContractId& id, Duration ttl) {
  return session_.wait<wire::ContractAnswer>([this, id, ttl](auto then) {
    agent::extend(session_.broker(), signing(), id, ttl, now(), std::move(then));
  });
}

SignedSession::Told SignedSession::buy(const ContractId& id, const std::vector<int32_t>& units) {
  return session_.wait<wire::ContractAnswer>([this, id, units](auto then) {
    agent::buy(session_.broker(), signing(), id, units, std::move(then));
  });
}

SignedSession::Told SignedSession::release(const ContractId& id,
                                           const std::vector<int32_t>& units) {
  return session_.wait<wire::ContractAnswer>([this, id, units](auto then) {
    agent::release(session_.broker(), signing(), id, units, std::move(then));
  });
}

SignedSession::Told SignedSession::give_notice(const ContractId& id) {
  return session_.wait<wire::ContractAnswer>([this, id](auto then) {
    agent::give_notice(session_.broker(), signing(), id, std::move(then));
  });
}

SignedSession::Told SignedSession::drained(const ContractId& id) {
  return session_.wait<wire::ContractAnswer>(
      [this, id](auto then) { agent::drained(session_.broker(), signing(), id, std::move(then)); });
}

SignedSession::Told SignedSession::meter_usage(const ContractId& id,
                                               const std::vector<model::MeteredUse>& used) {
  return session_.wait<wire::ContractAnswer>([this, id, used](auto then) {
    agent::meter_usage(session_.broker(), signing(), id, used, std::move(then));
  });
}

}  // namespace spillway::cli
