#include "rank/packed_offer.h"

#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "model/limits.h"

namespace spillway::rank {
namespace {

static_assert(model::k_max_carbon <= UINT16_MAX, "carbon is packed into 16 bits");

constexpr int64_t k_ms_per_hour = 3'600'000;

uint32_t count16(size_t n) {
  SPILLWAY_CHECK(n <= UINT16_MAX, "a list too long for a valid offer");
  return static_cast<uint32_t>(n);
}

uint32_t carbon16(int32_t grams) {
  const auto packed = static_cast<uint32_t>(grams);  // below zero becomes far too large
  SPILLWAY_CHECK(packed <= model::k_max_carbon, "carbon beyond what is valid");
  return packed;
}

}  // namespace

// Both archives offer the same verbs; walk() below uses them in one order, so that what is written
// and what is read cannot drift apart.
class PackedOffer::Writer {
 public:
  explicit Writer(Texts& texts) : texts_(texts) {}

  // The words of the front.
  void word(uint32_t value) { words_.push_back(value); }
  void word_text(const std::string& text) { word(texts_.take(std::string_view(text))); }
  void word_int64(int64_t value) {
    word(static_cast<uint32_t>(static_cast<uint64_t>(value)));
    word(static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32));
  }

  // The bytes of the tail.
  void number(int64_t value) { raw(zigzag(value)); }
  template <class Integer>
  void small(Integer value) {
    number(static_cast<int64_t>(value));
  }
  void text(const std::string& value) { raw(texts_.take(std::string_view(value))); }
  template <class T, class Each>
  void list(const std::vector<T>& values, Each each) {
    raw(values.size());
    for (const T& value : values) each(value);
  }
  template <class T, class Each>
  void optional(const std::optional<T>& value, Each each) {
    raw(value ? 1 : 0);
    if (value) each(*value);
  }

  std::unique_ptr<uint32_t[]> finish() const {
    const size_t size = words_.size() + (bytes_.size() + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    std::unique_ptr<uint32_t[]> block = std::make_unique<uint32_t[]>(size);
    std::memcpy(block.get(), words_.data(), words_.size() * sizeof(uint32_t));
    if (!bytes_.empty()) std::memcpy(block.get() + words_.size(), bytes_.data(), bytes_.size());
    return block;
  }

 private:
  static uint64_t zigzag(int64_t value) {
    return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  }
  void raw(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<uint8_t>(value));
  }

  Texts& texts_;
  std::vector<uint32_t> words_;
  std::vector<uint8_t> bytes_;
};

// OnText: Ref → text. Looking texts up and letting go of them are the same walk.
template <class OnText>
class PackedOffer::Reader {
 public:
  Reader(const uint32_t* words, const uint32_t* tail, OnText on_text)
      : words_(words), bytes_(reinterpret_cast<const uint8_t*>(tail)), on_text_(on_text) {}

  uint32_t word() { return *words_++; }
  void word_text(std::string& text) { text = on_text_(word()); }
  void word_int64(int64_t& value) {
    const uint64_t low = word();
    value = static_cast<int64_t>(low | static_cast<uint64_t>(word()) << 32);
  }

  void number(int64_t& value) {
    const uint64_t coded = raw();
    value = static_cast<int64_t>((coded >> 1) ^ (~(coded & 1) + 1));
  }
  template <class Integer>
  void small(Integer& value) {
    int64_t wide = 0;
    number(wide);
    value = static_cast<Integer>(wide);
  }
  void text(std::string& value) { value = on_text_(static_cast<Ref>(raw())); }
  template <class T, class Each>
  void list(std::vector<T>& values, Each each) {
    values.resize(raw());
    for (T& value : values) each(value);
  }
  template <class T, class Each>
  void optional(std::optional<T>& value, Each each) {
    if (raw() != 0) each(value.emplace());
  }

 private:
  uint64_t raw() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = *bytes_++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

  const uint32_t* words_;
  const uint8_t* bytes_;
  OnText on_text_;
};

// All but the lengths of the front's lists, the forecast and its time: the constructor and read()
// see to those.
template <class Archive, class AnyOffer>
void PackedOffer::walk(Archive& archive, AnyOffer& offer) {
  for (auto& label : offer.labels) {
    archive.word_text(label.key);
    archive.word_text(label.value);
  }
  for (auto& taint : offer.taints) archive.word_text(taint.key);
  for (auto& gpu : offer.shape.gpus) {
    archive.word_text(gpu.name);
    archive.word_int64(gpu.amount);
  }
  for (auto& count : offer.shape.extended) {
    archive.word_text(count.name);
    archive.word_int64(count.amount);
  }

  const auto amount_of = [&archive](auto& count) {
    archive.text(count.name);
    archive.number(count.amount);
  };
  archive.small(offer.kind);
  for (auto& taint : offer.taints) {
    archive.text(taint.value);
    archive.small(taint.effect);
  }
  archive.number(offer.shape.cpu_millis);
  archive.number(offer.shape.memory_bytes);
  archive.number(offer.shape.pods);
  archive.number(offer.shape.storage_bytes);
  for (auto& letter : offer.price.currency.letters) archive.small(letter);
  archive.small(offer.price.basis);
  archive.number(offer.price.unit_hour);
  archive.number(offer.price.cpu_hour);
  archive.number(offer.price.memory_gib_hour);
  archive.number(offer.price.storage_gib_hour);
  archive.list(offer.price.gpu_hour, amount_of);
  archive.list(offer.price.extended_hour, amount_of);
  archive.number(offer.price.minimum_term.ms);
  archive.small(offer.place.latitude_microdegrees);
  archive.small(offer.place.longitude_microdegrees);
  archive.text(offer.place.country);
  archive.text(offer.place.region);
  archive.text(offer.place.city);
  archive.number(offer.network.bandwidth_mbit);
  archive.number(offer.network.egress_gib_price);
  archive.small(offer.network.behind_nat);
  archive.text(offer.network.probe);
  archive.optional(offer.energy, [&archive](auto& energy) {
    archive.list(energy.mix, [&archive](auto& share) {
      archive.text(share.source);
      archive.small(share.permille);
    });
    archive.optional(energy.unit_milliwatts, [&archive](auto& power) { archive.number(power); });
    archive.text(energy.provenance.source);
    archive.small(energy.provenance.evidence);
  });
  archive.number(offer.terms.lease.ms);
  archive.number(offer.terms.notice.ms);
  archive.number(offer.terms.drain.ms);
  archive.number(offer.terms.grace.ms);
  archive.optional(offer.until, [&archive](auto& until) { archive.number(until.ms); });
}

PackedOffer::PackedOffer(const model::Offer& offer, Texts& texts) {
  Writer front(texts);
  front.word(count16(offer.labels.size()) | count16(offer.taints.size()) << 16);
  front.word(count16(offer.shape.gpus.size()) | count16(offer.shape.extended.size()) << 16);
  const std::vector<int32_t> no_forecast;
  const std::vector<int32_t>& forecast = offer.energy ? offer.energy->carbon_forecast : no_forecast;
  SPILLWAY_CHECK(forecast.size() <= k_hours, "a forecast longer than a valid one");
  uint32_t energy = static_cast<uint32_t>(forecast.size());
  if (offer.energy) energy |= k_energy_known | carbon16(offer.energy->carbon_now) << 16;
  front.word(energy);
  front.word_int64(offer.energy ? offer.energy->provenance.as_of.ms : 0);
  walk(front, offer);
  for (size_t hour = 0; hour < forecast.size(); hour += 2) {
    const int32_t second = hour + 1 < forecast.size() ? forecast[hour + 1] : 0;
    front.word(carbon16(forecast[hour]) | carbon16(second) << 16);
  }
  words_ = front.finish();
}

template <class OnText>
model::Offer PackedOffer::read(OnText on_text) const {
  model::Offer offer;
  offer.labels.resize(labels());
  offer.taints.resize(taints());
  offer.shape.gpus.resize(gpus());
  offer.shape.extended.resize(extended());
  const uint32_t hours_given = words_[k_energy] & k_hours;
  const uint32_t* tail = &words_[forecast_at() + (hours_given + 1) / 2];
  Reader<OnText> reader(&words_[k_front], tail, on_text);
  walk(reader, offer);
  if (offer.energy) {
    offer.energy->carbon_now = static_cast<int32_t>(words_[k_energy] >> 16);
    offer.energy->provenance.as_of.ms = int64_at(k_as_of);
    offer.energy->carbon_forecast.reserve(hours_given);
    for (uint32_t hour = 0; hour < hours_given; ++hour) {
      offer.energy->carbon_forecast.push_back(forecast(hour));
    }
  }
  return offer;
}

model::Offer PackedOffer::unpack(const Texts& texts) const {
  return read([&texts](Ref ref) -> const std::string& { return texts[ref]; });
}

void PackedOffer::drop_texts(Texts& texts) {
  if (!words_) return;
  read([&texts](Ref ref) {
    texts.drop(ref);
    return std::string();
  });
  words_.reset();
}

int32_t PackedOffer::forecast(uint64_t hour) const {
  const uint32_t pair = words_[forecast_at() + hour / 2];
  return static_cast<int32_t>(hour % 2 == 0 ? pair & k_low : pair >> 16);
}

std::optional<int32_t> PackedOffer::carbon_at(Instant when) const {
  const uint32_t energy = words_[k_energy];
  if ((energy & k_energy_known) == 0) return std::nullopt;
  const Instant as_of{int64_at(k_as_of)};
  if (when >= as_of) {
    const auto hour = static_cast<uint64_t>((when - as_of).ms / k_ms_per_hour);
    if (hour < (energy & k_hours)) return forecast(hour);
  }
  return static_cast<int32_t>(energy >> 16);
}

}  // namespace spillway::rank
