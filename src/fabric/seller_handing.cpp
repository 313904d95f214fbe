// The paper's way of peering at the provider (fabric/account.h).
#include <algorithm>

#include "fabric/selling.h"

namespace spillway::fabric {
namespace {

bool is_expired(const Selling& s) {
  const auto& issued = s.wish.hand_out.issued;
  return issued && issued->talk.expires <= s.now;
}

bool asks(const Selling& s, const Sale& sale) {
  return has_newest_key(s, sale) && sale.request && sale.request->proof &&
         !sale.request->proof->is_signed();
}

// Null: nobody asks. The first.
const Proof* asked(const Selling& s) {
  if (s.wish.hand_out.handing != Handing::on || is_expired(s)) return nullptr;
  const auto& sales = s.wish.sales;
  const auto found =
      std::find_if(sales.begin(), sales.end(), [&s](const Sale& sale) { return asks(s, sale); });
  return found == sales.end() ? nullptr : &*found->request->proof;
}

}  // namespace

bool hands_out(const Selling& s) {
  return s.wish.hand_out.handing == Handing::on && !s.wish.hand_out.is_refused;
}

// Who asked and can be given nothing is told the nonce, to sign it; its account stays until it has,
// for a token may be had yet.
bool comes_by_account(const Selling& s, const Sale& sale) {
  if (!hands_out(s)) return false;
  const Proof* first = asked(s);
  return first != nullptr && asks(s, sale) && sale.request->proof->request == first->request;
}

bool is_made_by_account(const Selling& s, const liqo::Tenant& tenant) {
  if (!s.wish.hand_out.is_tenant_signed) return false;
  return std::any_of(s.wish.sales.begin(), s.wish.sales.end(), [&](const Sale& sale) {
    return sale.request && sale.request->proof && sale.request->proof->request == tenant.request;
  });
}

void hand_out(Selling& s) {
  if (s.wish.hand_out.handing == Handing::unguarded) {
    s.tell(s.thing(),
           "it gets no kubeconfig: the guard is not in force, and nothing would hold it "
           "to its contract",
           "spillway fabric guard | kubectl apply -f -; or leave "
           "--fabric-handshake-server out");
  }
  if (asked(s) == nullptr) return;
  const auto& issued = s.wish.hand_out.issued;
  if (!issued || issued->account != s.sight.account.uid) {
    s.plan.needs_token = s.is_account_kept;
    return;
  }
  s.plan.look_by(issued->talk.expires);
  for (const Sale& sale : s.wish.sales) {
    if (!s.is_account_kept || !comes_by_account(s, sale)) continue;
    s.plan.deeds.emplace_back(Say{sale.contract, std::string(k_kubeconfig_step),
                                  to_body(issued->talk), issued->talk.expires});
  }
}

void settle_account(Selling& s) {
  const bool is_answered = s.sight.tenant && s.sight.tenant->answer;
  const Proof* proof = is_answered || !s.sight.has_space ? nullptr : asked(s);
  if (proof != nullptr) {
    s.is_account_kept = keep_account(s.wish.buyer, proof->request, s.sight.account, s.plan);
    return;
  }
  remove_account(s.wish.buyer, s.sight.account, s.wish.hand_out.handing != Handing::off, s.plan);
}

}  // namespace spillway::fabric
