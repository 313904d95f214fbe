// Our card, as the broker has it: shown when there is none, or another one.
#include <algorithm>
#include <utility>

#include "model/canonical.h"
#include "services/agent/signing.h"

namespace spillway::agent {

void Signing::show_card(std::optional<std::string> liqo, Then<model::Card> then) {
  if (own_ && (!liqo || *liqo == own_->liqo)) return then(*own_);
  client_.get_card(
      signatory_.cluster(),
      life_.guard([this, liqo = std::move(liqo), then = std::move(then)](
                      const Result<wire::CardBody>& told) { on_own_card(told, liqo, then); }));
}

void Signing::on_own_card(const Result<wire::CardBody>& told,
                          const std::optional<std::string>& liqo, const Then<model::Card>& then) {
  if (!told && told.error().code != Code::not_found) return then(tl::unexpected(told.error()));
  std::optional<model::Card> there;
  if (told) {
    const auto card = pki::verify_card(told->document);
    // Whatever it is, a new one takes its place.
    if (card && card->card.cluster == signatory_.cluster()) there = card->card;
  }
  auto next = std::make_shared<model::Card>();
  papers_.change_trust(
      [this, there, liqo, next](TrustBook& book) -> Status {
        const auto kept = pki::verify_card(book.card);
        const model::Card* last = kept && signatory_.is_own(kept->card) ? &kept->card : nullptr;
        int64_t used = std::max(there ? there->number : 0, kept ? kept->card.number : 0);
        // Numbers go on over a change of the key, unless somebody had it who used them all up.
        const bool is_new_key = !(there && signatory_.is_own(*there)) && last == nullptr;
        if (is_new_key && used >= model::k_max_canonical_integer) used = 0;
        // The later of the two: another process of this member may have shown one since it was
        // read.
        const model::Card* present = there && signatory_.is_own(*there) ? &*there : nullptr;
        const bool is_last_later =
            last != nullptr && (present == nullptr || last->number > present->number);
        if (is_last_later) present = last;
        const std::string id = liqo ? *liqo : (present != nullptr ? present->liqo : std::string());
        const bool stays = present != nullptr && present->liqo == id && present->number == used;
        *next = stays ? *present : signatory_.card(used + 1, id);
        auto document = signatory_.sign(*next);
        if (!document) return tl::unexpected(std::move(document).error());
        book.card = std::move(*document);
        return {};
      },
      life_.guard([this, there, next, then](const Result<TrustBook>& book) {
        if (!book) return then(tl::unexpected(book.error()));
        if (there && *there == *next) {
          own_ = *next;
          return then(*next);
        }
        put_card(*next, then);
      }));
}

void Signing::put_card(const model::Card& card, const Then<model::Card>& then) {
  auto document = signatory_.sign(card);
  if (!document) return then(tl::unexpected(std::move(document).error()));
  client_.put_card(card.cluster, {std::move(*document)},
                   life_.guard([this, card, then](const Status& done) {
                     if (!done) return then(tl::unexpected(done.error()));
                     own_ = card;
                     then(card);
                   }));
}

}  // namespace spillway::agent
