// Documents that several have signed: JWS, general JSON serialisation (RFC 7515 section 7.2.1),
// Ed25519 only (RFC 8037). All signatures are over the same payload, none over another signature:
// each is checked by itself, and who signed first does not show.
//
//   {"payload":"<base64url>","signatures":[{"protected":"<base64url>","signature":"<base64url>"}]}
//   protected: {"alg":"EdDSA","kid":"<thumbprint>","typ":"<type>"}
//
// One text for each document: canonical JSON (model/canonical.h), signatures in the order of their
// key ids, and nothing else anywhere: no other header, no unprotected one, no other algorithm. The
// type keeps a signature over one kind of document from being shown as one over another.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pki/key.h"

namespace spillway::pki {

inline constexpr size_t k_max_signatures = 8;
inline constexpr size_t k_max_type_characters = 40;

// The SHA-256 of a payload, as 64 hexadecimal digits. Of a contract: its id.
std::string payload_id(std::string_view payload);

class Jws {
 public:
  // `type`: lower-case letters, digits and '-', such as "spillway-contract". Ours, so a malformed
  // one is a bug.
  static Result<Jws> sign(std::string_view type, std::string payload, const Key& key);
  // Its form alone; nobody is known to have signed anything yet.
  static Result<Jws> parse(std::string_view text);

  // Signs the same payload. Whoever adds a signature has verified those that are there.
  Status add_signature(const Key& key);
  std::string to_text() const;

  // Whether exactly these keys have signed exactly this, as a document of that type.
  Status verify(std::string_view type, std::span<const PublicKey> keys) const;

  // A claim until verify() has said yes.
  const std::string& unverified_payload() const { return payload_; }
  std::vector<std::string> unverified_signers() const;  // key ids, sorted

 private:
  struct Signature {
    std::string key_id;
    std::string bytes;
  };

  Jws(std::string type, std::string payload)
      : type_(std::move(type)), payload_(std::move(payload)) {}
  std::string header(std::string_view key_id) const;
  std::string signing_input(std::string_view key_id) const;

  std::string type_;
  std::string payload_;
  std::vector<Signature> signatures_;  // in the order of their key ids
};

}  // namespace spillway::pki
