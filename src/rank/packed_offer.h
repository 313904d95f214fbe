// PackedOffer: an offer in one block of memory, a few hundred bytes instead of a few thousand.
//
// Every text is a Ref into Texts. What filters and cost terms read (labels, taint keys, counted
// resources, carbon) lies at the front in words of fixed width; the rest follows as variable-length
// numbers and is only read to rebuild the whole offer. Id, pool and visibility are not in it: the
// catalogue keeps them where it can share them.
//
// Packs only offers that passed model::validate; nothing else reaches the market's books.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/time.h"
#include "model/offer.h"
#include "rank/interner.h"

namespace spillway::rank {

class PackedOffer {
 public:
  struct LabelRefs {
    Ref key = 0;
    Ref value = 0;
  };
  struct CountRef {
    Ref name = 0;
    int64_t amount = 0;
  };

  PackedOffer() = default;
  PackedOffer(const model::Offer& offer, Texts& texts);  // becomes a holder of each text

  model::Offer unpack(
      const Texts& texts) const;  // equal to what was packed, less id, pool, visibility
  void drop_texts(Texts& texts);  // and is empty from then on

  uint32_t labels() const { return words_[k_labels] & k_low; }
  LabelRefs label(uint32_t i) const {
    const uint32_t at = k_front + 2 * i;
    return {words_[at], words_[at + 1]};
  }
  uint32_t taints() const { return words_[k_labels] >> 16; }
  Ref taint_key(uint32_t i) const { return words_[taints_at() + i]; }

  uint32_t gpus() const { return words_[k_counts] & k_low; }
  CountRef gpu(uint32_t i) const { return count_at(counts_at() + 3 * i); }
  uint32_t extended() const { return words_[k_counts] >> 16; }
  CountRef extended(uint32_t i) const { return count_at(counts_at() + 3 * (gpus() + i)); }

  // Asks for labels and taints ahead of a scan: they are all that it waits for.
  void prefetch() const {
    __builtin_prefetch(words_.get());
    __builtin_prefetch(words_.get() + 16);
  }

  bool has_energy() const { return (words_[k_energy] & k_energy_known) != 0; }
  // As model::carbon_at says; nullopt when nothing is known.
  std::optional<int32_t> carbon_at(Instant when) const;

 private:
  class Writer;
  template <class OnText>
  class Reader;
  template <class Archive, class AnyOffer>
  static void walk(Archive& archive, AnyOffer& offer);
  template <class OnText>
  model::Offer read(OnText on_text) const;

  // Words at the front: labels | taints << 16, gpus | extended << 16, hours | flag | carbon now,
  // as_of in two. Then labels (key, value), taints (key), counts (name, amount in two), the
  // forecast (two hours a word), and the bytes.
  static constexpr uint32_t k_labels = 0;
  static constexpr uint32_t k_counts = 1;
  static constexpr uint32_t k_energy = 2;
  static constexpr uint32_t k_as_of = 3;
  static constexpr uint32_t k_front = 5;
  static constexpr uint32_t k_low = 0xffff;
  static constexpr uint32_t k_energy_known = 0x8000;  // carbon now is in the upper half
  static constexpr uint32_t k_hours = 0xff;

  uint32_t taints_at() const { return k_front + 2 * labels(); }
  uint32_t counts_at() const { return taints_at() + taints(); }
  uint32_t forecast_at() const { return counts_at() + 3 * (gpus() + extended()); }
  int64_t int64_at(uint32_t at) const {
    return static_cast<int64_t>(words_[at] | static_cast<uint64_t>(words_[at + 1]) << 32);
  }
  CountRef count_at(uint32_t at) const { return {words_[at], int64_at(at + 1)}; }
  int32_t forecast(uint64_t hour) const;

  std::unique_ptr<uint32_t[]> words_;
};

}  // namespace spillway::rank
