#include "services/fabric/handouts.h"

#include <utility>

#include "pki/ed25519.h"
#include "pki/public_key.h"

namespace spillway::agent {
namespace {

// What Liqo looks at, too: of one that has signed another nonce it makes nothing.
bool is_signed(const fabric::SellerSight& sight) {
  if (!sight.tenant || sight.tenant->answer || !sight.nonce) return false;
  const auto key = pki::read_public_key(sight.tenant->public_key);
  return key && pki::verify_message(*key, sight.nonce->nonce, sight.tenant->signature);
}

}  // namespace

bool Handouts::set_guarded(bool is_guarded) {
  return std::exchange(is_guarded_, is_guarded) != is_guarded && is_on();
}

fabric::HandOut Handouts::of(const std::string& buyer, const fabric::SellerSight& sight) const {
  fabric::HandOut made;
  if (is_on()) made.handing = is_guarded_ ? fabric::Handing::on : fabric::Handing::unguarded;
  made.is_tenant_signed = is_on() && is_signed(sight);
  const auto given = given_.find(buyer);
  if (given == given_.end()) return made;
  made.issued = given->second.issued;
  made.is_refused =
      given->second.refused && api_.loop().now() - given->second.refused_at < k_refused_for;
  return made;
}

void Handouts::asked_again(const std::string& buyer) {
  const auto given = given_.find(buyer);
  if (given == given_.end() || !given->second.issued) return;
  if (given->second.issued->talk.expires <= api_.loop().now()) given->second.issued.reset();
}

void Handouts::issue(const fabric::SellerSight& sight, const std::string& buyer,
                     fabric::Plan& plan) {
  if (!plan.needs_token) return;
  Given& given = given_[buyer];
  if (given.refused) {
    plan.troubles.push_back({given.refused->thing,
                             "no kubeconfig can be made of it: " + given.refused->reason,
                             "give the agent the right to create serviceaccounts/token; peering "
                             "goes on over the relay"});
  }
  if (given.is_under_way) return;
  const Instant now = api_.loop().now();
  if (given.due > now && given.due - now <= host::k_refused_wait) return plan.look_by(given.due);
  given.is_under_way = true;
  const kube::Name account{fabric::liqo::tenant_namespace_name(buyer),
                           std::string(fabric::k_account_name)};
  api_.create_token(
      account, options_.life,
      life_.guard([this, buyer, uid = sight.account.uid](const Result<kube::Token>& token) {
        on_token(buyer, uid, token);
      }));
}

void Handouts::on_token(const std::string& buyer, const std::string& account,
                        const Result<kube::Token>& token) {
  const auto found = given_.find(buyer);
  if (found == given_.end()) return;  // forgotten meanwhile
  Given& given = found->second;
  given.is_under_way = false;
  if (!token) {
    given.refused = token.error();
    given.refused_at = api_.loop().now();
    given.due = api_.loop().now() + given.backoff.next(api_.random());
    return changed_(buyer);
  }
  given.refused.reset();
  given.backoff.reset();
  given.issued =
      fabric::Issued{account,
                     {fabric::write_kubeconfig({options_.server, options_.authority, token->text,
                                                fabric::liqo::tenant_namespace_name(buyer)}),
                      token->expires}};
  changed_(buyer);
}

}  // namespace spillway::agent
