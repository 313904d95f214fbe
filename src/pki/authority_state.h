// All that an authority's folder knows, as one text: so that a change of phase is the replacement
// of one file, and there is no order in which several could be half written.
//
// The text: three lines (what it is, the phase, since when), then in PEM the certificate and key of
// `current`, of `next` if there is one, and the certificate of `former` if there is one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "pki/authority.h"
#include "pki/secret.h"

namespace spillway::pki {

// Rotation goes once around: steady, begun, finished, steady.
enum class RotationPhase {
  steady,    // one authority
  begun,     // next is trusted too, current signs
  finished,  // what was next is current and signs; former is still trusted
};

std::string_view to_text(RotationPhase phase);

struct AuthorityState {
  RotationPhase phase = RotationPhase::steady;
  Instant since;  // when the phase began
  Authority current;
  std::optional<Authority> next;  // only in `begun`
  // Only in `finished`. Its key is gone: it signs nothing more, and could only be stolen.
  std::optional<Certificate> former;
  std::string former_pem;
};

Secret to_text(const AuthorityState& state);
Result<AuthorityState> parse_authority_state(std::string_view text);

}  // namespace spillway::pki
