#include "services/agent/trust.h"

#include <algorithm>

#include "base/text.h"
#include "model/agreement_fields.h"
#include "model/validation.h"

namespace spillway::agent {

template <class F>
void fields(F& f, Pin& pin) {
  f.required("key", pin.key);
  f.required("how", pin.how);
  f.required("since", pin.since);
  f.with_default("card", pin.card);
}

template <class F>
void fields(F& f, TrustBook& book) {
  f.with_default("first_use", book.first_use);
  f.with_default("pins", book.pins);
  f.with_default("card", book.card);
}

namespace {

constexpr size_t k_fingerprint_characters = 64;
constexpr size_t k_most_pins = 10'000;

std::string key_of_cluster(const ClusterId& cluster) { return "key of " + cluster.text; }

tl::unexpected<Error> other_key(const ClusterId& cluster, const std::string& pinned,
                                const std::string& shown) {
  return fail(Code::denied, key_of_cluster(cluster),
              fmt::format("{} is pinned, and {} was shown", pinned, shown),
              fmt::format("ask its operator which one is right, by another way than the broker; "
                          "if it is the new one: spillway trust replace {} {}",
                          cluster.text, shown));
}

Status check_new(const ClusterId& cluster, const std::string& key) {
  SPILLWAY_TRY(check_cluster_id(cluster.text));
  return model::check_key_fingerprint("fingerprint", key);
}

}  // namespace

Result<model::Trust> believe(TrustBook& book, const ShownCard& card, Instant now) {
  const auto known = book.pins.find(card.cluster);
  if (known == book.pins.end()) {
    if (!book.first_use) {
      return fail(
          Code::denied, key_of_cluster(card.cluster),
          fmt::format("{} was shown, none is pinned, and nobody is trusted on first use", card.key),
          fmt::format("ask its operator for the fingerprint, then: spillway trust add {} "
                      "FINGERPRINT",
                      card.cluster.text));
    }
    if (book.pins.size() >= k_most_pins) {
      return fail(Code::denied, key_of_cluster(card.cluster),
                  fmt::format("{} keys are pinned, and that is the most", k_most_pins),
                  "remove those of clusters that have left: spillway trust remove NAME");
    }
    book.pins[card.cluster] = {card.key, model::Trust::first_use, now, card.number};
    return model::Trust::first_use;
  }
  Pin& pin = known->second;
  if (pin.key != card.key) return other_key(card.cluster, pin.key, card.key);
  if (card.number < pin.card) {
    return fail(Code::denied, "card of " + card.cluster.text,
                fmt::format("it has number {}, and {} was seen before", card.number, pin.card),
                "an old one was shown: look again later, and ask the broker's operator if it stays "
                "so");
  }
  pin.card = card.number;
  return pin.how;
}

Status add_pin(TrustBook& book, const ClusterId& cluster, const std::string& key, Instant now) {
  SPILLWAY_TRY(check_new(cluster, key));
  const auto known = book.pins.find(cluster);
  if (known != book.pins.end() && known->second.key != key) {
    return fail(
        Code::conflict, key_of_cluster(cluster),
        fmt::format("{} is pinned already", known->second.key),
        fmt::format("if it has another key now: spillway trust replace {} {}", cluster.text, key));
  }
  if (known != book.pins.end() && known->second.how == model::Trust::given) return {};
  const int64_t card = known == book.pins.end() ? 0 : known->second.card;
  book.pins[cluster] = {key, model::Trust::given, now, card};
  return {};
}

Status replace_pin(TrustBook& book, const ClusterId& cluster, const std::string& key, Instant now) {
  SPILLWAY_TRY(check_new(cluster, key));
  const auto known = book.pins.find(cluster);
  if (known == book.pins.end()) {
    return fail(Code::not_found, key_of_cluster(cluster), "none is pinned",
                fmt::format("spillway trust add {} {}", cluster.text, key));
  }
  // Numbers are of one key: whoever had the old one may have used them all up.
  const int64_t card = known->second.key == key ? known->second.card : 0;
  known->second = {key, model::Trust::given, now, card};
  return {};
}

Status remove_pin(TrustBook& book, const ClusterId& cluster) {
  if (book.pins.erase(cluster) != 0) return {};
  return fail(Code::not_found, key_of_cluster(cluster), "none is pinned",
              "look at those that are: spillway trust list");
}

Result<std::string> read_fingerprint(std::string_view text) {
  std::string key;
  for (const char c : text) {
    if (c != ':') key += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (const Status good = model::check_key_fingerprint("", key); !good) {
    return fail(Code::invalid, "fingerprint " + in_quotes(text),
                fmt::format("it is not {} hexadecimal digits", k_fingerprint_characters),
                "copy it from what spillway trust show says at the other cluster");
  }
  return key;
}

std::string_view to_text(model::Trust trust) {
  return trust == model::Trust::given ? "given" : "first-use";
}

Status validate(const TrustBook& book) {
  for (const auto& [cluster, pin] : book.pins) {
    SPILLWAY_TRY(model::under("pins", check_cluster_id(cluster.text)));
    SPILLWAY_TRY(model::under(
        "pins", model::under(cluster.text, model::check_key_fingerprint("key", pin.key))));
    SPILLWAY_TRY(model::under(
        "pins", model::under(cluster.text, model::check_range("card", pin.card, 0, INT64_MAX))));
  }
  return {};
}

std::string to_json(const TrustBook& book) { return model::write_json(book); }

Result<TrustBook> trust_from_json(std::string_view text, std::string_view source) {
  return model::read_json<TrustBook>(text, source);
}

}  // namespace spillway::agent
