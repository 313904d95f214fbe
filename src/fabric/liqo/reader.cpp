#include "fabric/liqo/reader.h"

#include <algorithm>

#include "base/base64.h"
#include "base/quantity.h"
#include "base/text.h"
#include "model/card.h"
#include "model/reserved.h"
#include "model/tree.h"
#include "model/validation.h"

namespace spillway::fabric::liqo {
namespace {

using model::Node;

bool is_object_name(std::string_view text) {
  return text.size() <= k_longest_name && std::all_of(text.begin(), text.end(), [](char c) {
           return is_lower_or_digit(c) || c == '-' || c == '.';
         });
}

std::string_view word_for(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::object:
      return "no object";
    case Node::Kind::array:
      return "no list";
    case Node::Kind::boolean:
      return "neither true nor false";
    case Node::Kind::integer:
      return "no whole number";
    default:
      return "no string";
  }
}

const Node* follow(const Node* at, std::string_view path) {
  while (at != nullptr && !path.empty()) {
    if (at->kind != Node::Kind::object) return nullptr;
    const size_t dot = path.find('.');
    at = at->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  }
  return at == nullptr || at->kind == Node::Kind::null ? nullptr : at;
}

std::string named(const Node& root, const Kind& kind) {
  const std::string_view space = model::text_at(root, {"metadata", "namespace"});
  const std::string_view name = model::text_at(root, {"metadata", "name"});
  const std::string whole = space.empty() ? std::string(name) : fmt::format("{}/{}", space, name);
  return fmt::format(
      "{} {}", kind.kind,
      is_printable(whole) && whole.size() <= 2 * k_longest_name ? whole : in_quotes(whole));
}

Result<int64_t> read_amount(const Node& said, std::string_view resource) {
  if (said.kind == Node::Kind::integer && resource != "cpu") return said.integer;
  const std::string text =
      said.kind == Node::Kind::integer ? std::to_string(said.integer) : said.text;
  return parse_quantity(text, resource == "cpu" ? QuantityStep::milli : QuantityStep::whole);
}

}  // namespace

Reader::Reader(const Node& root, const Kind& kind) : at_(&root), thing_(named(root, kind)) {
  expect_object();
  std::string said;
  text("apiVersion", said);
  if (!said.empty() && said != api_version(kind)) refuse("apiVersion", in_quotes(said));
  text("kind", said);
  if (!said.empty() && said != kind.kind) refuse("kind", in_quotes(said));
}

Reader::Reader(const Node* at, std::string prefix, std::string thing)
    : at_(at), prefix_(std::move(prefix)), thing_(std::move(thing)) {
  if (!prefix_.empty()) prefix_ += '.';
}

void Reader::expect_object() {
  if (at_ != nullptr && at_->kind != Node::Kind::object) refuse("", "no object");
}

Status Reader::status() const {
  if (trouble_) return tl::unexpected(*trouble_);
  return {};
}

void Reader::refuse(std::string_view path, std::string reason) {
  if (trouble_) return;
  std::string where = prefix_ + std::string(path);
  if (path.empty() && !where.empty()) where.pop_back();  // the dot
  trouble_ = Error{Code::invalid, thing_,
                   where.empty() ? std::move(reason) : fmt::format("{}: {}", where, reason),
                   "look at what has written it"};
}

void Reader::refuse_word(std::string_view path, std::string_view said) {
  refuse(path, in_quotes(said) + " is no word that is known there");
}

void Reader::take_trouble(Reader& inner) {
  if (!trouble_) trouble_ = std::move(inner.trouble_);
}

const Node* Reader::find(std::string_view path, Node::Kind kind) {
  const Node* found = follow(at_, path);
  if (found == nullptr || found->kind == kind) return found;
  refuse(path, std::string(word_for(kind)));
  return nullptr;
}

const Node* Reader::find_text(std::string_view path) {
  const Node* found = find(path, Node::Kind::string);
  if (found == nullptr || found->text.size() <= k_longest_text) return found;
  refuse(path, fmt::format("{} bytes, at most {} are read", found->text.size(), k_longest_text));
  return nullptr;
}

Reader Reader::inside(std::string_view path) {
  return {find(path, Node::Kind::object), prefix_ + std::string(path), thing_};
}

bool Reader::is_few(std::string_view path, const Node& container, size_t most) {
  if (container.items.size() <= most) return true;
  refuse(path, fmt::format("{} entries, at most {} are read", container.items.size(), most));
  return false;
}

bool Reader::is_key(std::string_view path, const Node& member) {
  if (!member.key.empty() && member.key.size() <= 2 * k_longest_name) return true;
  refuse(path, in_quotes(member.key) + " is no key");
  return false;
}

void Reader::needed(std::string_view path) {
  const Node* found = follow(at_, path);
  const bool is_there =
      found != nullptr && (found->kind != Node::Kind::string || !found->text.empty());
  if (!is_there) refuse(path, "missing");
}

void Reader::text(std::string_view path, std::string& value) {
  const Node* found = find_text(path);
  value = found == nullptr ? std::string{} : found->text;
}

void Reader::name(std::string_view path, std::string& value) {
  text(path, value);
  if (!is_object_name(value)) refuse(path, in_quotes(value) + " is no name");
}

void Reader::id(std::string_view path, std::string& value) {
  text(path, value);
  if (!value.empty() && !model::check_liqo_id(path, value)) {
    refuse(path, in_quotes(value) + " is no cluster id");
  }
}

void Reader::bytes(std::string_view path, std::string& value) {
  value.clear();
  const Node* found = find_text(path);
  if (found == nullptr) return;
  if (auto decoded = from_base64(found->text)) {
    value = std::move(*decoded);
  } else {
    refuse(path, "no base64");
  }
}

void Reader::flag(std::string_view path, bool& value) {
  const Node* found = find(path, Node::Kind::boolean);
  value = found != nullptr && found->boolean;
}

void Reader::number(std::string_view path, int64_t& value) {
  const Node* found = find(path, Node::Kind::integer);
  value = found == nullptr ? 0 : found->integer;
  if (value < 0) refuse(path, "below zero");
}

void Reader::texts(std::string_view path, Texts& value, size_t most) {
  value.clear();
  const Node* object = find(path, Node::Kind::object);
  if (object == nullptr || !is_few(path, *object, most)) return;
  for (const Node& member : object->items) {
    if (!is_key(path, member)) return;
    if (member.kind != Node::Kind::string || member.text.size() > k_longest_text) {
      return refuse(path, in_quotes(member.key) + " is no string, or too long");
    }
    value[member.key] = member.text;
  }
}

void Reader::list(std::string_view path, std::vector<std::string>& value) {
  value.clear();
  const Node* array = find(path, Node::Kind::array);
  if (array == nullptr || !is_few(path, *array)) return;
  for (const Node& item : array->items) {
    if (item.kind != Node::Kind::string || item.text.size() > k_longest_text) {
      return refuse(path, "an entry is no string, or too long");
    }
    value.push_back(item.text);
  }
}

void Reader::amounts(std::string_view path, Amounts& value) {
  value.clear();
  const Node* object = find(path, Node::Kind::object);
  if (object == nullptr || !is_few(path, *object)) return;
  for (const Node& member : object->items) {
    const bool is_said = member.kind == Node::Kind::string || member.kind == Node::Kind::integer;
    if (!is_said || !model::is_qualified_name(member.key)) {
      return refuse(path, in_quotes(member.key) + " is no amount of a resource");
    }
    const Result<int64_t> amount = read_amount(member, member.key);
    if (!amount || *amount < 0 || *amount > model::k_max_amount) {
      return refuse(path, in_quotes(member.key) + " has an amount that nobody can have");
    }
    value[member.key] = *amount;
  }
}

void keep_words(const Node& root, std::span<const std::string_view> words, Meta& meta) {
  const auto keep = [&](std::string_view part, Texts& into) {
    for (const std::string_view word : words) {
      const std::string_view said = model::text_at(root, {"metadata", part, word});
      if (!said.empty() && said.size() <= k_longest_text)
        into.insert_or_assign(std::string(word), said);
    }
  };
  keep("labels", meta.labels);
  keep("annotations", meta.annotations);
}

void keep_reserved(const Node& root, std::initializer_list<std::string_view> path, Texts& into) {
  for (const Node& one : model::items_at(root, path)) {
    if (into.size() >= k_most_entries) return;  // the others when these have gone
    const bool is_read = one.kind == Node::Kind::string && one.text.size() <= k_longest_text;
    if (is_read && !model::is_free_label(one.key)) into.insert_or_assign(one.key, one.text);
  }
}

}  // namespace spillway::fabric::liqo
