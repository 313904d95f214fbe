#include "model/agreement.h"

#include <algorithm>

#include "base/text.h"
#include "model/agreement_fields.h"
#include "model/canonical.h"
#include "model/limits.h"
#include "model/payload.h"
#include "model/validation.h"

namespace spillway::model {
namespace {

constexpr size_t k_key_text_characters = 43;  // 32 bytes
constexpr size_t k_max_liqo_key_characters = 256;

bool is_base64url(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

Status check_number(std::string_view path, int64_t number) {
  return check_range(path, number, 1, k_max_canonical_integer);
}

Status check_signatory(const Signatory& signatory) {
  SPILLWAY_TRY(at("cluster", check_cluster_id(signatory.cluster.text)));
  SPILLWAY_TRY(check_key_text("key", signatory.key));
  SPILLWAY_TRY(check_key_text("sealing", signatory.sealing));
  return check_number("card", signatory.card);
}

Status check_names(const Agreement& agreement) {
  if (agreement.units.empty()) return refuse("units", "an agreement on no unit");
  SPILLWAY_TRY(check_size("units", agreement.units.size(), static_cast<size_t>(k_max_units)));
  for (size_t i = 0; i < agreement.units.size(); ++i) {
    const std::string expected = unit_name(agreement.hold, static_cast<int32_t>(i));
    if (agreement.units[i] == expected) continue;
    return under(
        "units", i,
        refuse("name", in_quotes(agreement.units[i]) + " is not its name", "it is " + expected));
  }
  return {};
}

Status check_liqo(const LiqoPart& part, size_t units) {
  SPILLWAY_TRY(check_liqo_id("buyer", part.buyer));
  SPILLWAY_TRY(check_liqo_id("provider", part.provider));
  if (part.buyer_key.empty() || part.buyer_key.size() > k_max_liqo_key_characters) {
    return refuse("buyer_key", fmt::format("{} characters are no key", part.buyer_key.size()));
  }
  SPILLWAY_TRY(check_text("buyer_key", part.buyer_key.substr(0, k_max_text_bytes)));
  SPILLWAY_TRY(check_key_fingerprint("control_plane_request", part.control_plane_request));
  if (part.unit_requests.size() != units) {
    return refuse("unit_requests", fmt::format("{} for {} units", part.unit_requests.size(), units),
                  "give one for each unit");
  }
  for (size_t i = 0; i < units; ++i) {
    SPILLWAY_TRY(under("unit_requests", i, check_key_fingerprint("", part.unit_requests[i])));
  }
  return {};
}

Status check_sale(const Agreement& agreement) {
  SPILLWAY_TRY(at("pool", check_owned_id(agreement.pool.text)));
  SPILLWAY_TRY(at("offer", check_owned_id(agreement.offer.text)));
  for (const std::string* id : {&agreement.pool.text, &agreement.offer.text}) {
    if (owner_of(*id) == agreement.provider.cluster.text) continue;
    return refuse("offer", in_quotes(*id) + " is not the provider's");
  }
  SPILLWAY_TRY(under("shape", validate(agreement.shape)));
  SPILLWAY_TRY(under("price", validate(agreement.price)));
  const auto rate = try_hourly_rate(agreement.price, agreement.shape);
  if (!rate || *rate != agreement.rate) {
    return refuse("rate", micros_to_text(agreement.rate) + " does not follow from price and shape");
  }
  return under("terms", validate(static_cast<const Terms&>(agreement.terms)));
}

}  // namespace

Status check_key_text(std::string_view path, std::string_view text) {
  if (text.size() == k_key_text_characters && std::all_of(text.begin(), text.end(), is_base64url)) {
    return {};
  }
  return refuse(path, in_quotes(text) + " is no public key", "write its 32 bytes in base64url");
}

Status check_liqo_id(std::string_view path, std::string_view id) {
  return at(path, check_cluster_id(id));
}

Status validate(const Card& card) {
  SPILLWAY_TRY(at("federation", check_cluster_id(card.federation)));
  SPILLWAY_TRY(at("cluster", check_cluster_id(card.cluster.text)));
  SPILLWAY_TRY(check_number("number", card.number));
  SPILLWAY_TRY(check_key_text("key", card.key));
  SPILLWAY_TRY(check_key_text("sealing", card.sealing));
  return card.liqo.empty() ? Status{} : check_liqo_id("liqo", card.liqo);
}

std::string to_payload(const Card& card) { return payload_of(card); }
Result<Card> card_from_payload(std::string_view payload) {
  return from_payload<Card>(payload, "card");
}

Agreement agreement_on(const Contract& contract, std::string federation) {
  Agreement agreement;
  agreement.federation = std::move(federation);
  agreement.hold = contract.id;
  agreement.buyer.cluster = contract.buyer;
  agreement.provider.cluster = contract.provider;
  agreement.pool = contract.pool;
  agreement.offer = contract.offer;
  agreement.shape = contract.shape;
  agreement.price = contract.price;
  agreement.rate = contract.rate;
  static_cast<Terms&>(agreement.terms) = contract.terms;
  for (const Unit& unit : contract.units) {
    agreement.units.push_back(unit_name(contract.id, unit.number));
  }
  agreement.spare = contract.spare;
  agreement.sign_by = contract.deadline;
  return agreement;
}

std::string_view difference(const Agreement& agreement, const Contract& contract) {
  if (agreement.hold != contract.id) return "hold";
  if (agreement.buyer.cluster != contract.buyer) return "buyer";
  if (agreement.provider.cluster != contract.provider) return "provider";
  if (agreement.pool != contract.pool) return "pool";
  if (agreement.offer != contract.offer) return "offer";
  if (agreement.shape != contract.shape) return "shape";
  if (agreement.price != contract.price) return "price";
  if (agreement.rate != contract.rate) return "rate";
  if (static_cast<const Terms&>(agreement.terms) != contract.terms) return "terms";
  // The book charges by these words and no others (market/metering.h).
  if (agreement.terms.by_buyer != EarlyEnd::minimum_term) return "early end by the buyer";
  if (agreement.terms.by_provider != EarlyEnd::time_used) return "early end by the provider";
  if (agreement.units.size() != contract.units.size()) return "units";
  if (agreement.spare != contract.spare) return "spare";
  return {};
}

Status validate(const Agreement& agreement) {
  SPILLWAY_TRY(at("federation", check_cluster_id(agreement.federation)));
  SPILLWAY_TRY(at("hold", check_contract_id(agreement.hold.text)));
  SPILLWAY_TRY(under("buyer", check_signatory(agreement.buyer)));
  SPILLWAY_TRY(under("provider", check_signatory(agreement.provider)));
  if (agreement.buyer.cluster == agreement.provider.cluster) {
    return refuse("provider", "it is the buyer itself");
  }
  if (agreement.buyer.key == agreement.provider.key) {
    return refuse("provider", "both sides have the same key");
  }
  SPILLWAY_TRY(check_sale(agreement));
  SPILLWAY_TRY(check_names(agreement));
  SPILLWAY_TRY(check_time("sign_by", agreement.sign_by));
  if (!agreement.fabric.liqo) return {};
  return under("fabric", under("liqo", check_liqo(*agreement.fabric.liqo, agreement.units.size())));
}

std::string to_payload(const Agreement& agreement) { return payload_of(agreement); }
Result<Agreement> agreement_from_payload(std::string_view payload) {
  return from_payload<Agreement>(payload, "agreement");
}

std::string_view to_text(ContractEventKind kind) { return word_of(kind); }

Status check_readings(std::string_view path, const std::vector<MeteredUse>& used) {
  if (used.empty()) return refuse(path, "it names no unit", "give a reading of one at least");
  SPILLWAY_TRY(check_size(path, used.size(), static_cast<size_t>(k_max_units)));
  for (size_t i = 0; i < used.size(); ++i) {
    SPILLWAY_TRY(under(path, i, check_range("unit", used[i].unit, 0, k_max_units - 1)));
    if (i > 0 && used[i - 1].unit >= used[i].unit) {
      return under(path, i, refuse("unit", "it is out of order or there twice"));
    }
    SPILLWAY_TRY(under(path, i, under("use", validate(used[i].use))));
  }
  return {};
}

Status validate(const ContractEvent& event) {
  using Kind = ContractEventKind;
  SPILLWAY_TRY(check_key_fingerprint("agreement", event.agreement));
  SPILLWAY_TRY(at("hold", check_contract_id(event.hold.text)));
  SPILLWAY_TRY(at("by", check_cluster_id(event.by.text)));
  SPILLWAY_TRY(check_key_text("key", event.key));
  SPILLWAY_TRY(check_number("number", event.number));
  SPILLWAY_TRY(check_time("at", event.at));
  const bool has_end = event.kind == Kind::extension || event.kind == Kind::renewal;
  if (has_end != event.until.has_value()) {
    return refuse("until", has_end ? "it is missing" : "this kind of event has none");
  }
  if (event.until) SPILLWAY_TRY(check_time("until", *event.until));
  const bool may_name_units = event.kind == Kind::release || event.kind == Kind::purchase;
  if (!event.units.empty() && !may_name_units) {
    return refuse("units", "only a release and a purchase name units");
  }
  SPILLWAY_TRY(check_size("units", event.units.size(), static_cast<size_t>(k_max_units)));
  for (const int32_t unit : event.units) {
    SPILLWAY_TRY(check_range("units", unit, 0, k_max_units - 1));
  }
  if (event.kind == Kind::purchase && event.units.empty()) {
    return refuse("units", "a purchase names what it buys");
  }
  if ((event.kind == Kind::accepted) != event.trust.has_value()) {
    return refuse("trust", "it belongs to what accepts, and only there");
  }
  if ((event.kind == Kind::usage) == event.used.empty()) {
    return refuse("used", "it belongs to usage, and only there");
  }
  return event.used.empty() ? Status{} : check_readings("used", event.used);
}

std::string to_payload(const ContractEvent& event) { return payload_of(event); }
Result<ContractEvent> contract_event_from_payload(std::string_view payload) {
  return from_payload<ContractEvent>(payload, "contract event");
}

}  // namespace spillway::model
