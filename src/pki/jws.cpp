#include "pki/jws.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "pki/base64url.h"
#include "pki/ed25519.h"
#include "pki/hash.h"
#include "pki/jws_reader.h"

namespace spillway::pki {
namespace {

constexpr const char* k_thing = "signed document";

tl::unexpected<Error> distrust(std::string reason) {
  return fail(Code::denied, k_thing, std::move(reason),
              "do not act on it; ask the other side for the document that both have signed");
}

struct Signer {
  std::string id;
  const PublicKey* key;
};

// In the order of their ids, as signatures are.
Result<std::vector<Signer>> in_order(std::span<const PublicKey> keys) {
  std::vector<Signer> signers;
  for (const PublicKey& key : keys) {
    Result<std::string> id = key_id(key);
    if (!id) return tl::unexpected(id.error());
    signers.push_back({std::move(*id), &key});
  }
  std::sort(signers.begin(), signers.end(),
            [](const Signer& a, const Signer& b) { return a.id < b.id; });
  return signers;
}

}  // namespace

std::string payload_id(std::string_view payload) { return sha256_hex(payload); }

Result<Jws> Jws::sign(std::string_view type, std::string payload, const Key& key) {
  SPILLWAY_CHECK(is_jws_type(type), "a document is signed under an odd type");
  Jws jws{std::string(type), std::move(payload)};
  SPILLWAY_TRY(jws.add_signature(key));
  return jws;
}

Result<Jws> Jws::parse(std::string_view text) {
  Result<JwsParts> parts = read_jws(text);
  if (!parts) return tl::unexpected(parts.error());
  Jws jws(parts->signatures.front().header.type, std::move(parts->payload));
  for (JwsParts::Signature& signature : parts->signatures) {
    jws.signatures_.push_back({std::move(signature.header.key_id), std::move(signature.bytes)});
  }
  // What is left to differ is white space, the order of members and escapes.
  if (jws.to_text() != text) {
    return fail(Code::invalid, k_thing, "it is not spelled as RFC 8785 has it",
                "send it as it was signed, byte by byte");
  }
  return jws;
}

std::string Jws::header(std::string_view id) const {
  const std::string text =
      fmt::format(R"({{"alg":"{}","kid":"{}","typ":"{}"}})", k_jws_algorithm, id, type_);
  return std::string(to_base64url(text).view());
}

std::string Jws::signing_input(std::string_view id) const {
  return header(id).append(".").append(to_base64url(payload_).view());
}

Status Jws::add_signature(const Key& key) {
  Result<std::string> id = key_id(key.public_key());
  if (!id) return tl::unexpected(id.error());
  const auto place =
      std::lower_bound(signatures_.begin(), signatures_.end(), *id,
                       [](const Signature& one, const std::string& it) { return one.key_id < it; });
  if (place != signatures_.end() && place->key_id == *id) {
    return fail(Code::conflict, k_thing, "that key has signed it already");
  }
  if (signatures_.size() >= k_max_signatures) {
    return fail(Code::conflict, k_thing,
                fmt::format("{} have signed it already", k_max_signatures));
  }
  Result<std::string> bytes = sign_message(key, signing_input(*id));
  if (!bytes) return tl::unexpected(bytes.error());
  signatures_.insert(place, {std::move(*id), std::move(*bytes)});
  return {};
}

std::string Jws::to_text() const {
  std::string text = R"({"payload":")";
  text.append(to_base64url(payload_).view()).append(R"(","signatures":[)");
  for (const Signature& signature : signatures_) {
    if (&signature != &signatures_.front()) text += ',';
    text.append(R"({"protected":")").append(header(signature.key_id));
    text.append(R"(","signature":")").append(to_base64url(signature.bytes).view()).append(R"("})");
  }
  return text.append("]}");
}

Status Jws::verify(std::string_view type, std::span<const PublicKey> keys) const {
  SPILLWAY_CHECK(!keys.empty(), "a document is verified against nobody");
  if (type_ != type) return distrust(fmt::format("it is a {}, no {}", type_, type));
  const Result<std::vector<Signer>> signers = in_order(keys);
  if (!signers) return tl::unexpected(signers.error());
  auto signature = signatures_.begin();
  for (const Signer& signer : *signers) {
    if (signature == signatures_.end() || signer.id < signature->key_id) {
      return distrust("the key " + signer.id + " has not signed it");
    }
    if (signature->key_id != signer.id) {
      return distrust("the key " + signature->key_id + " has signed it and should not have");
    }
    if (!verify_message(*signer.key, signing_input(signer.id), signature->bytes)) {
      return distrust("the signature by " + signer.id + " is not over this payload");
    }
    ++signature;
  }
  if (signature != signatures_.end()) {
    return distrust("the key " + signature->key_id + " has signed it and should not have");
  }
  return {};
}

std::vector<std::string> Jws::unverified_signers() const {
  std::vector<std::string> ids;
  for (const Signature& signature : signatures_) ids.push_back(signature.key_id);
  return ids;
}

}  // namespace spillway::pki
