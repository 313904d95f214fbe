// What a driver is ordered to do: written down, answered when that is saved, and done by its
// Fabrics.
#include <utility>

#include "services/driver/driver.h"
#include "services/driver/orders.h"

namespace spillway::driver {

Error Driver::unsaved() const {
  return {Code::unavailable, "the driver's state",
          saver_.trouble() ? "it cannot be written: " + saver_.trouble()->message()
                           : "it is not written yet",
          "make room for it, and ask again: the same order changes nothing"};
}

// Whoever asked is told either way: when it is safe, or that it is not known whether it will be.
template <class T>
void Driver::when_saved(Then<T> then, std::function<void(const Then<T>&)> answer) {
  const auto asked = std::make_shared<Then<T>>(std::move(then));
  saver_.flush(life_.guard([asked, answer = std::move(answer)] {
    if (const auto told = std::exchange(*asked, nullptr)) answer(told);
  }));
  loop_.after(k_longest_save, life_.guard([this, asked] {
    if (const auto told = std::exchange(*asked, nullptr)) told(tl::unexpected(unsaved()));
  }));
}

void Driver::order(const std::string& name, const UnitOrder& order, const MaySee& may_see,
                   Then<UnitDocument> then) {
  if (saver_.trouble()) return then(tl::unexpected(unsaved()));
  if (const Status known = check_known(order.consumer, order.provider); !known) {
    return then(tl::unexpected(known.error()));
  }
  const auto placed = place(book_.state, name, order, loop_.now(), may_see);
  if (!placed) return then(tl::unexpected(placed.error()));
  if (*placed) {
    book_.state.closing.erase(peering_name(order.consumer, order.provider));
    note_step(name, book_.state.units.at(name).step());
    rebuild();
  }
  // Also of one that is known: the first answer may have been lost before it was safe.
  when_saved<UnitDocument>(std::move(then),
                           [this, name](const auto& told) { answer_unit(name, told); });
}

void Driver::end(const std::string& name, Then<UnitDocument> then) {
  if (saver_.trouble()) return then(tl::unexpected(unsaved()));
  const auto ended = driver::end(book_.state, name, loop_.now());
  if (!ended) return then(tl::unexpected(ended.error()));
  if (*ended) wake();
  when_saved<UnitDocument>(std::move(then),
                           [this, name](const auto& told) { answer_unit(name, told); });
}

// A save may take long: what was ordered may be over by then.
void Driver::answer_unit(const std::string& name, const Then<UnitDocument>& then) const {
  if (auto shown = unit(name)) return then(std::move(*shown));
  then(tl::unexpected(ended(name)));
}

void Driver::keep(const std::string& consumer, const std::string& provider,
                  const PeeringOrder& order, Then<PeeringDocument> then) {
  if (saver_.trouble()) return then(tl::unexpected(unsaved()));
  if (const Status known = check_known(consumer, provider); !known) {
    return then(tl::unexpected(known.error()));
  }
  const std::string name = peering_name(consumer, provider);
  const ContractId id = make_contract_id(loop_.now(), random_.next(), random_.next());
  const auto kept = driver::keep(book_.state, name, order, id, loop_.now());
  if (!kept) return then(tl::unexpected(kept.error()));
  if (*kept) rebuild();
  wake();
  when_saved<PeeringDocument>(std::move(then), [this, consumer, provider](const auto& told) {
    if (auto shown = peering(consumer, provider)) return told(std::move(*shown));
    told(fail(Code::gone, "peering " + peering_name(consumer, provider),
              "it was over before it was written down", "keep it again, for longer"));
  });
}

void Driver::close(const std::string& consumer, const std::string& provider,
                   Then<PeeringDocument> then) {
  if (saver_.trouble()) return then(tl::unexpected(unsaved()));
  auto shown = peering(consumer, provider);
  if (!shown) {
    return then(fail(Code::not_found, "peering " + peering_name(consumer, provider),
                     "there is none", "look at what there is with a list"));
  }
  const auto closed = driver::close(book_.state, shown->name(), loop_.now());
  if (!closed) return then(tl::unexpected(closed.error()));
  if (*closed) rebuild();
  wake();
  shown->closing = true;
  shown->kept = false;
  when_saved<PeeringDocument>(std::move(then), [shown](const auto& told) { told(*shown); });
}

}  // namespace spillway::driver
