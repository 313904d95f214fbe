#include "sim/liar.h"

#include <algorithm>

#include "model/canonical.h"
#include "model/json.h"
#include "model/tree.h"
#include "pki/base64url.h"
#include "pki/ed25519.h"
#include "pki/jws.h"
#include "pki/signed_documents.h"

namespace spillway::sim {
namespace {

using model::Node;

constexpr size_t k_memory = 200;  // of each kind

bool is_agreement(const std::string& target) {
  return target.starts_with("/v1/contracts/") && target.ends_with("/agreement");
}
bool is_messages(const net::Request& request) {
  return request.method == "GET" && request.target.starts_with("/v1/contracts/") &&
         request.target.find("/messages") != std::string::npos;
}

std::string payload_of(const std::string& document) {
  const auto jws = pki::Jws::parse(document);
  return jws ? jws->unverified_payload() : std::string();
}

// Members of a document that is still the same JWS otherwise.
std::string with_member(const std::string& document, std::string_view name, Node value) {
  auto root = model::parse_json(document);
  if (!root) return document;
  model::put(*root, name, std::move(value));
  return model::canonical_json(*root).value_or(document);
}

void collect_leaves(Node& node, std::vector<Node*>& leaves) {
  if (node.kind == Node::Kind::string || node.kind == Node::Kind::integer) leaves.push_back(&node);
  for (Node& item : node.items) collect_leaves(item, leaves);
}

Node* member(Node& object, std::string_view name) {
  for (Node& item : object.items) {
    if (item.key == name) return &item;
  }
  return nullptr;
}

}  // namespace

Liar::Liar(World& world, uint64_t permille)
    : world_(world), permille_(permille), key_(make_key(world.random())) {}

void Liar::remember(std::vector<std::string>& seen, const std::string& what) {
  if (what.empty() || std::find(seen.begin(), seen.end(), what) != seen.end()) return;
  if (seen.size() < k_memory) return seen.push_back(what);
  seen[world_.below(seen.size())] = what;
}

std::string Liar::another(const std::vector<std::string>& seen, const std::string& than) {
  if (seen.empty()) return {};
  const std::string& chosen = seen[world_.below(seen.size())];
  return chosen == than ? std::string() : chosen;
}

void Liar::alter(const std::string& party, const net::Request& request, net::Response& response) {
  const bool signs = is_agreement(request.target);
  if (response.status != 200 || (!signs && !is_messages(request))) return;
  auto answer = model::parse_json(response.body, "answer", model::k_max_row_bytes);
  if (!answer) return;
  const bool lied =
      signs ? lie_about_agreement(party, *answer) : lie_about_messages(request.target, *answer);
  if (!lied) return;
  lies_ += 1;
  world_.note("lie", static_cast<int64_t>(lies_));
  response.body = model::to_json(*answer);
}

// The same card, but for the keys, which are its own: whoever believes it talks to the liar.
std::string Liar::own_card_for(const std::string& document) {
  auto card = model::card_from_payload(payload_of(document));
  if (!card) return document;
  card->key = *pki::signing_key_text(key_.key.public_key());
  card->sealing = card->key;
  if (world_.chance(500)) card->number += 1;
  return pki::sign(*card, key_.key).value_or(document);
}

// What was agreed, with its own key in the place of one side's, signed by it.
std::string Liar::resigned(const std::string& document, bool as_buyer) {
  auto agreement = model::agreement_from_payload(payload_of(document));
  if (!agreement) return document;
  model::Signatory& side = as_buyer ? agreement->buyer : agreement->provider;
  side.key = *pki::signing_key_text(key_.key.public_key());
  side.sealing = side.key;
  auto jws = pki::Jws::sign(model::k_agreement_type, to_payload(*agreement), key_.key);
  return jws ? jws->to_text() : document;
}

std::string Liar::with_changed_leaf(const std::string& document) {
  auto payload = model::parse_json(payload_of(document));
  if (!payload) return document;
  std::vector<Node*> leaves;
  collect_leaves(*payload, leaves);
  if (leaves.empty()) return document;
  Node& leaf = *leaves[world_.below(leaves.size())];
  if (leaf.kind == Node::Kind::integer) {
    leaf.integer += 1;
  } else {
    leaf.text += leaf.text.empty() || leaf.text.back() != '0' ? '0' : '1';
  }
  const auto canonical = model::canonical_json(*payload);
  if (!canonical) return document;
  return with_member(document, "payload", model::text_node(pki::to_base64url(*canonical).view()));
}

std::string Liar::with_changed_signatures(const std::string& document) {
  auto root = model::parse_json(document);
  Node* signatures = root ? member(*root, "signatures") : nullptr;
  if (signatures == nullptr || signatures->items.empty()) return document;
  std::vector<Node>& items = signatures->items;
  switch (world_.below(3)) {
    case 0:
      items.pop_back();
      break;
    case 1:
      items.push_back(items.front());
      break;
    default: {
      Node* first = member(items.front(), "signature");
      Node* last = member(items.back(), "signature");
      if (items.size() < 2 || first == nullptr || last == nullptr) return document;
      std::swap(first->text, last->text);
    }
  }
  return model::canonical_json(*root).value_or(document);
}

bool Liar::lie_about_agreement(const std::string& party, Node& answer) {
  const std::string document(model::text_at(answer, {"document"}));
  const std::string buyer(model::text_at(answer, {"contract", "buyer"}));
  const bool is_buyer = party == buyer;
  const char* peer_card = is_buyer ? "provider_card" : "buyer_card";
  const std::string card(model::text_at(answer, {peer_card}));
  remember(agreements_, document);
  remember(cards_, card);
  for (const Node& event : model::items_at(answer, {"events"})) remember(events_, event.text);
  if (!world_.chance(permille_)) return false;

  std::string shown = document;
  std::string shown_card = card;
  switch (world_.below(7)) {
    case 0:
      shown = with_changed_leaf(document);
      break;
    case 1:
      shown = with_changed_signatures(document);
      break;
    case 2:
      shown = another(agreements_, document);
      break;
    case 3:
      shown_card = own_card_for(card);
      break;
    case 4:
      shown_card = another(cards_, card);
      break;
    case 5:  // both fit together, and neither is the other side's
      shown_card = own_card_for(card);
      shown = resigned(document, !is_buyer);
      break;
    default: {
      Node* events = member(answer, "events");
      const std::string foreign = another(events_, "");
      if (events == nullptr || foreign.empty()) return false;
      if (world_.chance(500)) events->items.clear();
      events->items.push_back(model::text_node(foreign));
      return true;
    }
  }
  if (shown == document && shown_card == card) return false;
  if (!document.empty()) model::put(answer, "document", model::text_node(shown));
  if (!card.empty()) model::put(answer, peer_card, model::text_node(shown_card));
  return true;
}

bool Liar::lie_about_messages(const std::string& contract, Node& answer) {
  Node* messages = member(answer, "messages");
  if (messages == nullptr) return false;
  for (const Node& one : messages->items) {
    if (messages_.size() < k_memory) messages_.push_back(one);
  }
  if (!world_.chance(permille_) || messages_.empty()) return false;
  world_.note(contract);
  std::vector<Node>& items = messages->items;
  switch (world_.below(4)) {
    case 0:  // of another contract or direction, or heard before
      items.push_back(messages_[world_.below(messages_.size())]);
      return true;
    case 1:
      if (items.size() < 2) return false;
      std::swap(items.front(), items.back());
      return true;
    case 2: {
      Node* envelope = items.empty() ? nullptr : member(items.back(), "envelope");
      if (envelope == nullptr || envelope->text.size() < 80) return false;
      char& changed = envelope->text[60];
      changed = changed == 'A' ? 'B' : 'A';
      return true;
    }
    default: {
      Node* sequence = items.empty() ? nullptr : member(items.back(), "sequence");
      if (sequence == nullptr) return false;
      sequence->integer += 1;
      return true;
    }
  }
}

}  // namespace spillway::sim
