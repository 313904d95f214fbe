#include "services/fabric/pulses.h"

#include <utility>

#include "fabric/fence.h"
#include "host/backoff.h"
#include "kube/failure.h"
#include "model/json.h"
#include "services/fabric/resource.h"

namespace spillway::agent {
namespace {

namespace liqo = fabric::liqo;

std::string lease_path(const std::string& prefix, const std::string& space) {
  return prefix +
         kube::path_of(resource_of(liqo::k_leases), {space, std::string(fabric::k_fence_name)});
}

// Nobody who answers so serves anybody.
bool is_no_answer(const Result<net::Response>& answer) { return !answer || answer->status >= 500; }

int64_t turns_in(const net::Response& answer) {
  return answer.status == 200 ? fabric::turns_in(answer.body) : 0;
}

}  // namespace

Pulses::Pulses(kube::Api& api, services::Log& log, PulseOptions options, AllowedServers allowed,
               Calls calls)
    : api_(api),
      log_(log),
      options_(std::move(options)),
      allowed_(std::move(allowed)),
      calls_(std::move(calls)) {}

void Pulses::follow(const std::string& provider, const std::string& buyer,
                    const std::string& space) {
  if (!options_.dial) return;
  const auto known = pulses_.find(provider);
  if (known != pulses_.end() && known->second.buyer == buyer && known->second.space == space) {
    return;
  }
  Pulse pulse;
  pulse.buyer = buyer;
  pulse.space = space;
  pulse.number = ++followed_;
  pulse.sent = api_.loop().now();
  const uint64_t number = pulse.number;
  pulses_.insert_or_assign(provider, std::move(pulse));
  api_.loop().post(life_.guard([this, provider, number] { beat(provider, number); }));
}

void Pulses::renew(const std::string& provider, int64_t turns) {
  const auto found = pulses_.find(provider);
  if (found == pulses_.end() || found->second.silent) return;
  found->second.turns = turns;
  found->second.may_renew = true;
  if (!found->second.is_under_way && found->second.channel != nullptr) ask(provider);
}

fabric::Signs Pulses::signs(const std::string& provider) const {
  const auto found = pulses_.find(provider);
  if (found == pulses_.end()) return {};
  return {found->second.is_answered, found->second.silent, {}};
}

std::optional<Error> Pulses::refusal(const std::string& provider) const {
  const auto found = pulses_.find(provider);
  if (found == pulses_.end() || !found->second.refused) return std::nullopt;
  const bool is_long = api_.loop().now() - found->second.refused_since > k_long_refused;
  return is_long ? found->second.refused : std::nullopt;
}

void Pulses::beat(const std::string& provider, uint64_t number) {
  const auto found = pulses_.find(provider);
  if (found == pulses_.end() || found->second.number != number) return;
  const Duration wait =
      host::between(api_.random(), {options_.every.ms * 9 / 10}, {options_.every.ms});
  api_.loop().after(wait, life_.guard([this, provider, number] { beat(provider, number); }));
  if (found->second.is_under_way) return;
  if (found->second.channel == nullptr || found->second.is_stale) return open(provider);
  ask(provider);
}

// Whatever was made of the handshake last.
void Pulses::open(const std::string& provider) {
  Pulse& pulse = pulses_.at(provider);
  pulse.channel.reset();
  pulse.is_stale = false;
  pulse.is_under_way = true;
  const uint64_t attempt = ++pulse.attempt;
  const kube::Name secret{
      liqo::tenant_namespace_name(provider),
      liqo::kubeconfig_secret_name(liqo::control_plane_identity_name(provider))};
  api_.get(kube::k_secrets, secret,
           life_.guard([this, provider, attempt](const Result<kube::Object>& object) {
             Pulse* asking = under_way(provider, attempt);
             if (asking == nullptr) return;
             asking->is_under_way = false;
             if (!object) return;  // ours does not say it: that tells nothing of the provider
             const Status connected = connect(provider, *asking, *object);
             if (!connected) return refuse(*asking, connected.error());
             ask(provider);
           }));
}

Status Pulses::connect(const std::string& provider, Pulse& pulse, const kube::Object& secret) {
  const auto access = access_in(secret, provider, allowed_);
  if (!access) return tl::unexpected(access.error());
  auto channel = options_.dial(*access);
  if (!channel) return tl::unexpected(std::move(channel).error());
  pulse.channel = std::move(*channel);
  pulse.prefix = access->prefix;
  return {};
}

void Pulses::ask(const std::string& provider) {
  Pulse& pulse = pulses_.at(provider);
  pulse.is_under_way = true;
  const uint64_t attempt = ++pulse.attempt;
  const bool is_renewal = pulse.may_renew;
  net::Request request{is_renewal ? "PATCH" : "GET", lease_path(pulse.prefix, pulse.space), {}, {}};
  request.headers = {{"Accept", "application/json"}, {"User-Agent", "spillway"}};
  if (is_renewal) {
    pulse.sent = api_.loop().now();
    request.headers.push_back({"Content-Type", "application/merge-patch+json"});
    request.body = model::to_json(fabric::renewal_patch(pulse.buyer, pulse.turns, pulse.sent));
  }
  const auto heard =
      life_.guard([this, provider, attempt, is_renewal](const Result<net::Response>& answer) {
        Pulse* asking = under_way(provider, attempt);
        if (asking == nullptr) return;
        asking->is_under_way = false;
        on_answer(provider, is_renewal, answer);
      });
  pulse.channel->send(std::move(request), heard);
  api_.loop().after(options_.answer, [heard] {
    heard(fail(Code::unavailable, "provider", "it has not answered in time", ""));
  });
}

void Pulses::on_answer(const std::string& provider, bool is_renewal,
                       const Result<net::Response>& answer) {
  Pulse& pulse = pulses_.at(provider);
  if (is_no_answer(answer)) return on_silence(provider, pulse);
  pulse.is_answered = true;
  pulse.silent.reset();
  if (!is_renewal) return calls_.answered(provider, turns_in(*answer));
  if (answer->status < 300) return pulse.refused.reset();
  pulse.is_stale = true;  // perhaps there is another identity by now
  refuse(pulse, kube::failure_of(*answer, "the Lease of this cluster at " + provider));
}

void Pulses::on_silence(const std::string& provider, Pulse& pulse) {
  pulse.is_stale = true;
  pulse.may_renew = false;
  if (!pulse.silent) pulse.silent = api_.loop().now();
  calls_.silenced(provider, pulse.sent);
}

Pulses::Pulse* Pulses::under_way(const std::string& provider, uint64_t attempt) {
  const auto found = pulses_.find(provider);
  if (found == pulses_.end()) return nullptr;
  const bool is_it = found->second.is_under_way && found->second.attempt == attempt;
  return is_it ? &found->second : nullptr;
}

void Pulses::refuse(Pulse& pulse, const Error& why) {
  if (!pulse.refused) pulse.refused_since = api_.loop().now();
  pulse.refused = why;
}

}  // namespace spillway::agent
