#include "services/agent/renewal_timer.h"

#include <algorithm>
#include <utility>

#include "pki/request.h"

namespace spillway::agent {
namespace {

// Timers stand still while a machine sleeps: the wall clock is looked at this often.
constexpr Duration k_look = minutes(1);
constexpr Duration k_longest = minutes(5);

}  // namespace

void take_into_use(const Credentials& renewed, net::Client& client, services::Log& log) {
  auto status = client.set_authorities(renewed.authorities_pem);
  if (status) status = client.set_identity(renewed.tls);
  if (status) return;
  log.write(services::Level::error, "certificate not taken into use",
            {{"why", status.error().message()}});
}

RenewalTimer::RenewalTimer(host::Loop& loop, host::Random& random, net::Channel& channel,
                           services::Log& log, IdentityStore& store, Credentials credentials,
                           std::function<void(const Credentials&)> renewed)
    : loop_(loop),
      random_(random),
      client_(channel),
      log_(log),
      store_(store),
      credentials_(std::move(credentials)),
      renewed_(std::move(renewed)),
      alarm_(loop, [this] { look(); }) {}

void RenewalTimer::start() {
  plan();
  look();
}

void RenewalTimer::plan() {
  const Duration life = credentials_.not_after - credentials_.not_before;
  const Duration jitter = host::between(random_, {}, Duration{std::max<int64_t>(0, life.ms / 20)});
  due_ = credentials_.not_before + Duration{life.ms / 3 * 2} - jitter;
}

void RenewalTimer::look() {
  const Instant now = loop_.now();
  if (now >= due_ && !asking_) return renew();
  alarm_.wake_by(std::min(std::max(due_, now), now + k_look));
}

void RenewalTimer::renew() {
  const auto key = pki::Key::from_pem(credentials_.tls.key_pem);
  if (!key) return fail(key.error());
  const auto request = pki::make_request(*key, credentials_.name);
  if (!request) return fail(request.error());
  asking_ = true;
  client_.recertify({*request}, life_.guard([this](const Result<wire::CertificateAnswer>& told) {
    on_answer(told);
  }));
}

void RenewalTimer::on_answer(const Result<wire::CertificateAnswer>& told) {
  if (!told) return fail(told.error());
  const auto key = pki::Key::from_pem(credentials_.tls.key_pem);
  if (!key) return fail(key.error());
  if (const auto status = check_answer(*key, *told); !status) return fail(status.error());
  store_.renew(credentials_.broker, *told,
               life_.guard([this](Result<Credentials> kept) { on_stored(std::move(kept)); }));
}

// Nobody uses a certificate before it is kept.
void RenewalTimer::on_stored(Result<Credentials> kept) {
  if (!kept) return fail(kept.error());
  asking_ = false;
  credentials_ = std::move(*kept);
  backoff_.reset();
  plan();
  due_ = std::max(due_, loop_.now() + k_look);  // whatever a broker answers: not all the time
  log_.write(services::Level::info, "certificate renewed",
             {{"good until", to_text(credentials_.not_after)}});
  renewed_(credentials_);
  look();
}

void RenewalTimer::fail(const Error& error) {
  asking_ = false;
  const bool expired = credentials_.not_after <= loop_.now();
  log_.write(expired ? services::Level::error : services::Level::warning, "certificate not renewed",
             {{"why", error.message()}, {"good until", to_text(credentials_.not_after)}});
  due_ = loop_.now() + backoff_.next(random_, k_longest);
  alarm_.wake_by(due_);
}

}  // namespace spillway::agent
