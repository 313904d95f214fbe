#include "services/agent/papers.h"

#include <memory>
#include <utility>

namespace spillway::agent {

void Papers::believe(const ShownCard& card, Instant now, Then<model::Trust> then) {
  auto how = std::make_shared<model::Trust>();
  change_trust(
      [card, now, how](TrustBook& book) -> Status {
        const auto believed = agent::believe(book, card, now);
        if (!believed) return tl::unexpected(believed.error());
        *how = *believed;
        return {};
      },
      [how, then = std::move(then)](Result<TrustBook> book) {
        if (!book) return then(tl::unexpected(std::move(book).error()));
        then(*how);
      });
}

void Papers::note_end(const ContractId& id, Instant now, std::function<void(Status)> then) {
  find(id, [this, now, then = std::move(then)](Result<std::optional<Paper>> kept) {
    if (!kept) return then(tl::unexpected(std::move(kept).error()));
    if (!*kept || (*kept)->ended) return then({});
    Paper over = std::move(**kept);
    over.ended = now;
    keep(over, [then](Result<Paper> written) {
      then(written ? Status() : tl::unexpected(std::move(written).error()));
    });
  });
}

void MemoryPapers::change_trust(TrustChange change, Then<TrustBook> then) {
  TrustBook next = trust;
  if (Status status = change(next); !status) return then(tl::unexpected(std::move(status).error()));
  trust = next;
  then(std::move(next));
}

void MemoryPapers::find(const ContractId& id, Then<std::optional<Paper>> then) {
  const auto found = papers.find(id);
  then(found == papers.end() ? std::nullopt : std::optional(found->second));
}

void MemoryPapers::keep(const Paper& heard, Then<Paper> then) {
  const auto [at, is_new] = papers.try_emplace(heard.contract, heard);
  if (!is_new) {
    auto both = merged(at->second, heard);
    if (!both) return then(tl::unexpected(std::move(both).error()));
    at->second = std::move(*both);
  }
  then(at->second);
}

}  // namespace spillway::agent
