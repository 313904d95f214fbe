#include "pki/authority_folder.h"

#include <filesystem>
#include <utility>

#include "pki/file_handle.h"
#include "pki/sealed.h"

namespace spillway::pki {
namespace {

std::string file_in(const std::string& folder) {
  return (std::filesystem::path(folder) / "authority.pem").string();
}

Result<AuthorityState> read_state(const std::string& folder) {
  SPILLWAY_TRY(check_private_folder(folder));
  const Result<Secret> text = read_private(file_in(folder));
  if (!text) return tl::unexpected(text.error());
  Result<AuthorityState> state = parse_authority_state(text->view());
  if (!state) {
    Error error = state.error();
    error.thing = file_in(folder) + " (" + error.thing + ")";
    return tl::unexpected(std::move(error));
  }
  return state;
}

AuthorityStatus::Entry entry_of(const Certificate& facts) {
  return {facts.fingerprint, facts.not_after};
}

// A step of the rotation that does not fit the phase: says what would.
tl::unexpected<Error> out_of_order(const AuthorityState& state) {
  const std::string since = " since " + to_text(state.since);
  const std::string thing = "authority of " + state.current.federation();
  switch (state.phase) {
    case RotationPhase::steady:
      return fail(Code::conflict, thing, "no rotation is under way" + since,
                  "begin one; then finish it, then retire the former authority");
    case RotationPhase::begun:
      return fail(Code::conflict, thing, "a rotation is begun" + since,
                  "finish it, once all members have fetched the new bundle");
    case RotationPhase::finished:
      break;
  }
  return fail(Code::conflict, thing, "a rotation is finished, and the former is trusted" + since,
              "retire the former, once all members have renewed their certificates");
}

}  // namespace

AuthorityFolder::AuthorityFolder(std::string folder, AuthorityState state, WriteProbe probe)
    : folder_(std::move(folder)), state_(std::move(state)), probe_(std::move(probe)) {}

Result<AuthorityFolder> AuthorityFolder::put(const std::string& folder, AuthorityState state,
                                             WriteProbe probe) {
  SPILLWAY_TRY(make_private_folder(folder));
  const Result<FileHandle> lock = lock_folder(folder);
  if (!lock) return tl::unexpected(lock.error());
  const std::string file = file_in(folder);
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
    return fail(Code::conflict, file, "there is an authority already",
                "choose another folder; to replace the authority, rotate it");
  }
  SPILLWAY_TRY(write_private(file, to_text(state).view(), Existing::refuse, probe));
  return AuthorityFolder(folder, std::move(state), std::move(probe));
}

Result<AuthorityFolder> AuthorityFolder::create(const std::string& folder,
                                                std::string_view federation, Instant now,
                                                WriteProbe probe) {
  Result<Authority> authority = Authority::create(federation, now);
  if (!authority) return tl::unexpected(authority.error());
  AuthorityState state{RotationPhase::steady, now, std::move(*authority), {}, {}, {}};
  return put(folder, std::move(state), std::move(probe));
}

Result<AuthorityFolder> AuthorityFolder::load(const std::string& folder, WriteProbe probe) {
  Result<AuthorityState> state = read_state(folder);
  if (!state) return tl::unexpected(state.error());
  return AuthorityFolder(folder, std::move(*state), std::move(probe));
}

AuthorityStatus AuthorityFolder::status() const {
  AuthorityStatus status{state_.current.federation(),      state_.phase, state_.since,
                         entry_of(state_.current.facts()), {},           {}};
  if (state_.next) status.next = entry_of(state_.next->facts());
  if (state_.former) status.former = entry_of(*state_.former);
  return status;
}

std::string AuthorityFolder::bundle() const {
  std::string pem = state_.current.certificate_pem();
  if (state_.next) pem += state_.next->certificate_pem();
  return pem + state_.former_pem;
}

Status AuthorityFolder::change(
    const std::function<Result<AuthorityState>(const AuthorityState&)>& step) {
  const Result<FileHandle> lock = lock_folder(folder_);
  if (!lock) return tl::unexpected(lock.error());
  const Result<AuthorityState> now_on_disk = read_state(folder_);
  if (!now_on_disk) return tl::unexpected(now_on_disk.error());
  Result<AuthorityState> changed = step(*now_on_disk);
  if (!changed) return tl::unexpected(changed.error());
  SPILLWAY_TRY(
      write_private(file_in(folder_), to_text(*changed).view(), Existing::replace, probe_));
  state_ = std::move(*changed);
  return {};
}

Status AuthorityFolder::begin_rotation(Instant now) {
  return change([&](const AuthorityState& state) -> Result<AuthorityState> {
    if (state.phase != RotationPhase::steady) return out_of_order(state);
    Result<Authority> next = Authority::create(state.current.federation(), now);
    if (!next) return tl::unexpected(next.error());
    return AuthorityState{RotationPhase::begun, now, state.current, std::move(*next), {}, {}};
  });
}

Status AuthorityFolder::finish_rotation(Instant now) {
  return change([&](const AuthorityState& state) -> Result<AuthorityState> {
    if (state.phase != RotationPhase::begun) return out_of_order(state);
    return AuthorityState{
        RotationPhase::finished,        now, *state.next, {}, state.current.facts(),
        state.current.certificate_pem()};
  });
}

Status AuthorityFolder::retire_former(Instant now) {
  return change([&](const AuthorityState& state) -> Result<AuthorityState> {
    if (state.phase != RotationPhase::finished) return out_of_order(state);
    return AuthorityState{RotationPhase::steady, now, state.current, {}, {}, {}};
  });
}

Status AuthorityFolder::backup(const std::string& file, std::string_view passphrase) const {
  // What is on the disk: another process may have rotated since we loaded.
  const Result<AuthorityState> state = read_state(folder_);
  if (!state) return tl::unexpected(state.error());
  const Result<std::string> sealed = seal(to_text(*state).view(), passphrase);
  if (!sealed) return tl::unexpected(sealed.error());
  return write_private(file, *sealed, Existing::refuse);
}

Result<AuthorityFolder> AuthorityFolder::restore(const std::string& file,
                                                 std::string_view passphrase,
                                                 const std::string& folder) {
  const Result<Secret> sealed = read_private(file, Readers::anyone);
  if (!sealed) return tl::unexpected(sealed.error());
  const Result<Secret> text = unseal(sealed->view(), passphrase);
  if (!text) return tl::unexpected(text.error());
  Result<AuthorityState> state = parse_authority_state(text->view());
  if (!state) return tl::unexpected(state.error());
  return put(folder, std::move(*state), {});
}

}  // namespace spillway::pki
