// The authority on disk: one file, authority.pem (0600), in a folder of its own (0700).
//
// Rotation takes three steps, and no member is ever cut off if there is time between them:
//   begin    makes `next`. Both are in the bundle; current signs. Wait until all have the bundle.
//   finish   next becomes current and signs; the old one stays trusted as former and its key is
//            destroyed. Wait until all have renewed.
//   retire   former is no longer trusted.
// Each step replaces the one file: who is killed anywhere is before the step or after it. Steps of
// several processes wait for each other, and each looks at the disk first.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "pki/authority.h"
#include "pki/authority_state.h"
#include "pki/private_file.h"

namespace spillway::pki {

struct AuthorityStatus {
  struct Entry {
    std::string fingerprint;
    Instant not_after;
    bool operator==(const Entry&) const = default;
  };
  std::string federation;
  RotationPhase phase = RotationPhase::steady;
  Instant since;
  Entry current;
  std::optional<Entry> next;
  std::optional<Entry> former;
  bool operator==(const AuthorityStatus&) const = default;
};

class AuthorityFolder {
 public:
  // Makes the folder, and an authority in it; refuses if there is one.
  static Result<AuthorityFolder> create(const std::string& folder, std::string_view federation,
                                        Instant now, WriteProbe probe = {});
  static Result<AuthorityFolder> load(const std::string& folder, WriteProbe probe = {});

  AuthorityStatus status() const;
  const Authority& signer() const { return state_.current; }
  // PEM of all that are trusted, the signer first.
  std::string bundle() const;

  Status begin_rotation(Instant now);
  Status finish_rotation(Instant now);
  Status retire_former(Instant now);

  // Everything, keys too, in one encrypted file that was not there before.
  Status backup(const std::string& file, std::string_view passphrase) const;
  // The inverse, into a folder without an authority. The file may be readable by anyone.
  static Result<AuthorityFolder> restore(const std::string& file, std::string_view passphrase,
                                         const std::string& folder);

 private:
  AuthorityFolder(std::string folder, AuthorityState state, WriteProbe probe);
  static Result<AuthorityFolder> put(const std::string& folder, AuthorityState state,
                                     WriteProbe probe);
  Status change(const std::function<Result<AuthorityState>(const AuthorityState&)>& step);

  std::string folder_;
  AuthorityState state_;
  WriteProbe probe_;
};

}  // namespace spillway::pki
