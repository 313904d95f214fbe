#include "pki/authority_state.h"

#include <array>
#include <utility>
#include <vector>

#include "pki/pem.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_first_line = "spillway authority 1";

constexpr std::array k_phases{RotationPhase::steady, RotationPhase::begun, RotationPhase::finished};

tl::unexpected<Error> refuse(const char* reason) {
  return fail(Code::invalid, "authority", reason, "restore it from a backup");
}

// The line's value if it begins with `key`; the line is taken off the text.
std::optional<std::string_view> take_line(std::string_view& text, std::string_view key) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(key)) return std::nullopt;
  const std::string_view value = text.substr(key.size(), end - key.size());
  text.remove_prefix(end + 1);
  return value;
}

std::optional<RotationPhase> parse_phase(std::string_view text) {
  for (const RotationPhase phase : k_phases) {
    if (to_text(phase) == text) return phase;
  }
  return std::nullopt;
}

Result<Authority> authority_at(const std::vector<PemBlock>& blocks, size_t at) {
  return Authority::from_pem(blocks[at].text, blocks[at + 1].text);
}

Status add_next(AuthorityState& state, const std::vector<PemBlock>& blocks) {
  Result<Authority> next = authority_at(blocks, 2);
  if (!next) return tl::unexpected(next.error());
  if (next->federation() != state.current.federation()) {
    return refuse("current and next are of different federations");
  }
  state.next = std::move(*next);
  return {};
}

Status add_former(AuthorityState& state, const PemBlock& block) {
  Result<Certificate> former = read_certificate(block.text);
  if (!former) return tl::unexpected(former.error());
  const Result<std::string> federation = federation_of_authority(*former);
  if (!federation) return tl::unexpected(federation.error());
  if (*federation != state.current.federation()) {
    return refuse("current and former are of different federations");
  }
  state.former = std::move(*former);
  state.former_pem = std::string(block.text).append("\n");
  return {};
}

}  // namespace

std::string_view to_text(RotationPhase phase) {
  switch (phase) {
    case RotationPhase::steady:
      return "steady";
    case RotationPhase::begun:
      return "begun";
    case RotationPhase::finished:
      return "finished";
  }
  return "unknown";
}

Secret to_text(const AuthorityState& state) {
  const Secret current_key = state.current.key_pem();
  const Secret next_key = state.next ? state.next->key_pem() : Secret();
  std::string head(k_first_line);
  head.append("\nphase ").append(to_text(state.phase));
  head.append("\nsince ").append(to_text(state.since)).append("\n");

  const std::array<std::string_view, 6> parts{
      head,
      state.current.certificate_pem(),
      current_key.view(),
      state.next ? std::string_view(state.next->certificate_pem()) : std::string_view(),
      next_key.view(),
      state.former_pem,
  };
  size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  Secret text = Secret::of_size(size);
  char* at = text.data();
  for (const std::string_view part : parts) at += part.copy(at, part.size());
  return text;
}

Result<AuthorityState> parse_authority_state(std::string_view text) {
  if (take_line(text, k_first_line) != std::string_view()) {
    return refuse("it does not begin with \"spillway authority 1\"");
  }
  const std::optional<std::string_view> phase_text = take_line(text, "phase ");
  const std::optional<RotationPhase> phase =
      phase_text ? parse_phase(*phase_text) : std::optional<RotationPhase>();
  if (!phase) return refuse("its phase is none that we know");
  const std::optional<std::string_view> since_text = take_line(text, "since ");
  const Result<Instant> since = parse_instant(since_text.value_or(""));
  if (!since) return refuse("it does not say since when");

  const Result<std::vector<PemBlock>> blocks = split_pem(text, "authority");
  if (!blocks) return tl::unexpected(blocks.error());
  const size_t wanted = *phase == RotationPhase::steady  ? 2
                        : *phase == RotationPhase::begun ? 4
                                                         : 3;
  if (blocks->size() != wanted) return refuse("it has not the certificates and keys of its phase");

  Result<Authority> current = authority_at(*blocks, 0);
  if (!current) return tl::unexpected(current.error());
  AuthorityState state{*phase, *since, std::move(*current), {}, {}, {}};
  if (*phase == RotationPhase::begun) SPILLWAY_TRY(add_next(state, *blocks));
  if (*phase == RotationPhase::finished) SPILLWAY_TRY(add_former(state, (*blocks)[2]));
  return state;
}

}  // namespace spillway::pki
