// ContractEvent: what one side does under an agreement, signed by it (pki/jws.h, type
// k_contract_event_type). It refers to the agreement by its id, and each side numbers its own: one
// with a number that was seen before says nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "model/agreement.h"
#include "model/use.h"

namespace spillway::model {

inline constexpr std::string_view k_contract_event_type = "spillway-event";

enum class ContractEventKind {
  accepted,   // by the provider, with its signature: how it knows the buyer's key
  extension,  // by the buyer, before the provider has signed: sign_by is later now
  renewal,    // by the buyer, who pays until then at most
  release,    // by the buyer: these units, or all
  notice,     // by the provider: it is over after the time that the terms give
  drained,    // by either, of what is closing: nothing of it runs any more
  usage,      // by the provider: what units have used since their start
  purchase,   // by the buyer: these spares, from now on at the agreed price
};
std::string_view to_text(ContractEventKind kind);

// What was metered of one unit, in all, since its start. Growing only.
struct MeteredUse {
  int32_t unit = 0;
  Use use;
  bool operator==(const MeteredUse&) const = default;
};

struct ContractEvent {
  std::string agreement;  // its id
  ContractId hold;
  ClusterId by;
  std::string key;     // that signs it: the agreement names it as this side's
  int64_t number = 1;  // of this side's events on this agreement
  ContractEventKind kind = ContractEventKind::renewal;
  Instant at;                    // by the signer's clock
  std::optional<Instant> until;  // extension, renewal
  std::vector<int32_t> units;    // release (empty: all), purchase
  std::optional<Trust> trust;    // accepted
  std::vector<MeteredUse> used;  // usage

  bool operator==(const ContractEvent&) const = default;
};

// Of one unit at least, each once, in order.
Status check_readings(std::string_view path, const std::vector<MeteredUse>& used);
Status validate(const ContractEvent& event);
std::string to_payload(const ContractEvent& event);
Result<ContractEvent> contract_event_from_payload(std::string_view payload);

}  // namespace spillway::model
