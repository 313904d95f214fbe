#include "demand/best_of_class.h"

#include <bit>
#include <map>

namespace spillway::demand {
namespace {

// None is 0, then by the number of binary digits.
auto size_step(int64_t amount) { return std::bit_width(static_cast<uint64_t>(amount)); }

void append(std::string& out, std::string_view part) {
  out += part;
  out += '\n';  // no name has one
}

}  // namespace

std::string class_of(const model::Offer& offer) {
  constexpr int64_t k_millis = 1000;
  std::string text = fmt::format("{} {}\n", size_step(offer.shape.cpu_millis / k_millis),
                                 size_step(offer.shape.memory_bytes));
  for (const model::Count& gpu : offer.shape.gpus) append(text, gpu.name);
  for (const model::Count& one : offer.shape.extended) append(text, one.name);
  append(text, offer.place.region);
  for (const model::Label& label : offer.labels) append(text, label.key + "=" + label.value);
  for (const model::Taint& taint : offer.taints) {
    append(text, fmt::format("{}={}:{}", taint.key, taint.value, static_cast<int>(taint.effect)));
  }
  return text;
}

std::vector<Ledger::OnSale> best_of_class(std::vector<Ledger::OnSale> offers, int32_t most) {
  std::map<std::string, int32_t> taken;
  std::erase_if(offers, [&](const Ledger::OnSale& one) {
    int32_t& count = taken[class_of(one.offer)];
    if (count >= most) return true;
    count += 1;
    return false;
  });
  return offers;
}

}  // namespace spillway::demand
