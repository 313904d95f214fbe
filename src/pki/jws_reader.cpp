#include "pki/jws_reader.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "model/canonical.h"
#include "model/json.h"
#include "pki/base64url.h"
#include "pki/ed25519.h"
#include "pki/jws.h"

namespace spillway::pki {
namespace {

using model::Node;

constexpr const char* k_document = "signed document";

tl::unexpected<Error> refuse(std::string thing, std::string reason) {
  return fail(Code::invalid, std::move(thing), std::move(reason),
              "send it as it was signed, byte by byte");
}

// Every member has one of these names, so that nothing is ignored that another reader would heed.
Status check_members(const Node& object, const std::string& thing,
                     std::initializer_list<std::string_view> names) {
  if (object.kind != Node::Kind::object) return refuse(thing, "it is no object");
  for (const Node& member : object.items) {
    if (std::find(names.begin(), names.end(), member.key) == names.end()) {
      return refuse(thing, in_quotes(member.key) + " is none of its fields");
    }
  }
  return {};
}

Result<std::string> text_member(const Node& object, const std::string& thing,
                                std::string_view name) {
  const Node* member = object.find(name);
  if (member == nullptr) return refuse(thing, fmt::format("it has no \"{}\"", name));
  if (member->kind != Node::Kind::string) {
    return refuse(thing, fmt::format("its \"{}\" is no text", name));
  }
  return member->text;
}

Result<std::string> bytes_member(const Node& object, const std::string& thing,
                                 std::string_view name) {
  const Result<std::string> text = text_member(object, thing, name);
  if (!text) return tl::unexpected(text.error());
  const std::optional<Secret> bytes = from_base64url(*text);
  if (!bytes) {
    return refuse(thing, fmt::format("its \"{}\" is not base64url, or not the only one", name));
  }
  return std::string(bytes->view());
}

Result<JwsHeader> read_header(std::string_view text, const std::string& thing) {
  const Result<Node> header = model::parse_canonical_json(text, thing);
  if (!header) return tl::unexpected(header.error());
  if (header->find("crit") != nullptr) {
    return refuse(thing, "its \"crit\" asks for what nobody here understands");
  }
  const Result<std::string> algorithm = text_member(*header, thing, "alg");
  if (!algorithm) return tl::unexpected(algorithm.error());
  if (*algorithm != k_jws_algorithm) {
    return refuse(thing, fmt::format("its algorithm is {}, not EdDSA", in_quotes(*algorithm)));
  }
  SPILLWAY_TRY(check_members(*header, thing, {"alg", "kid", "typ"}));
  Result<std::string> id = text_member(*header, thing, "kid");
  if (!id) return tl::unexpected(id.error());
  if (!is_key_id(*id)) return refuse(thing, "its \"kid\" is no thumbprint of a key");
  Result<std::string> type = text_member(*header, thing, "typ");
  if (!type) return tl::unexpected(type.error());
  if (!is_jws_type(*type)) return refuse(thing, "its \"typ\" is no type of ours");
  return JwsHeader{std::move(*id), std::move(*type)};
}

Result<JwsParts::Signature> read_signature(const Node& node, size_t number) {
  const std::string thing = fmt::format("signature {}", number);
  if (node.find("header") != nullptr) {
    return refuse(thing, "it has an unprotected header, which nobody signed");
  }
  SPILLWAY_TRY(check_members(node, thing, {"protected", "signature"}));
  const Result<std::string> head = bytes_member(node, thing, "protected");
  if (!head) return tl::unexpected(head.error());
  Result<JwsHeader> header = read_header(*head, fmt::format("header of signature {}", number));
  if (!header) return tl::unexpected(header.error());
  Result<std::string> bytes = bytes_member(node, thing, "signature");
  if (!bytes) return tl::unexpected(bytes.error());
  if (bytes->size() != k_signature_bytes) {
    return refuse(thing, fmt::format("it has {} bytes, not 64", bytes->size()));
  }
  JwsParts::Signature signature;
  signature.header = std::move(*header);
  signature.bytes = std::move(*bytes);
  return signature;
}

// Against those that came before it.
Status check_place(const std::vector<JwsParts::Signature>& before,
                   const JwsParts::Signature& signature, size_t number) {
  if (before.empty()) return {};
  const std::string thing = fmt::format("signature {}", number);
  const JwsHeader& last = before.back().header;
  if (signature.header.key_id == last.key_id) return refuse(thing, "that key has signed already");
  if (signature.header.key_id < last.key_id) {
    return refuse(thing, "it is out of place: signatures are in the order of their key ids");
  }
  if (signature.header.type != last.type) return refuse(thing, "it is of another type");
  return {};
}

}  // namespace

bool is_jws_type(std::string_view text) {
  return !text.empty() && text.size() <= k_max_type_characters &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

Result<JwsParts> read_jws(std::string_view text) {
  const Result<Node> root = model::parse_json(text, k_document);
  if (!root) return tl::unexpected(root.error());
  SPILLWAY_TRY(check_members(*root, k_document, {"payload", "signatures"}));
  JwsParts parts;
  Result<std::string> payload = bytes_member(*root, k_document, "payload");
  if (!payload) return tl::unexpected(payload.error());
  parts.payload = std::move(*payload);
  const Node* signatures = root->find("signatures");
  if (signatures == nullptr || signatures->kind != Node::Kind::array || signatures->items.empty()) {
    return refuse(k_document, "it has no list of signatures");
  }
  if (signatures->items.size() > k_max_signatures) {
    return refuse(k_document, fmt::format("{} signatures are too many", signatures->items.size()));
  }
  for (const Node& node : signatures->items) {
    const size_t number = parts.signatures.size() + 1;
    Result<JwsParts::Signature> signature = read_signature(node, number);
    if (!signature) return tl::unexpected(signature.error());
    SPILLWAY_TRY(check_place(parts.signatures, *signature, number));
    parts.signatures.push_back(std::move(*signature));
  }
  return parts;
}

}  // namespace spillway::pki
