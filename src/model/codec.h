// One description of a record serves to read it and to write it.
//
//   template <class Fields>
//   void fields(Fields& f, Row& row) {       // in the namespace of Row
//     f.required("pool", row.pool);
//     f.required("free", row.free);
//     f.optional("until", row.until);                       // std::optional<T>; absent when empty
//     f.with_default("lease", row.lease, Terms{}.lease);    // left out when it is the default
//     f.with_default("spent", row.spent, as::amount);       // the default is T{}; "1.25" for money
//   }
//   std::string text = write_json(row);                        // {"version":1,"pool":…}
//   Result<Row> back = read_json<Row>(text, "pool row");
//
// Reading is strict: a field that is unknown, missing, of another type or out of range is an error
// that names its path, its line and, where one is near, what was probably meant. Then validate(row)
// is called if there is one. Writing is canonical: equal values give equal bytes.
//
// Known are bool, integers, strings, ids, times, durations, currencies, money, fingerprints, the
// nouns (model/fields.h), enums that have words_of(), vectors, maps from text or ids, and records
// with fields(). For any other type give read_value(const Spot&, T&) and
// write_value(Output&, const T&) beside it.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "model/json.h"
#include "model/leaves.h"
#include "model/node.h"
#include "model/spot.h"
#include "model/yaml.h"

namespace spillway::model {

// The words of an enum, in the order of an error's list:
//   constexpr std::array<Word<Colour>, 2> words_of(Colour) { return {{{Colour::red, "red"}, …}}; }
template <class E>
struct Word {
  E value;
  std::string_view word;
};

template <class Format, class T>
concept FormatOf =
    std::same_as<Format, as::Natural> || requires(const Spot& at, T& value, Output& out) {
      Format::read(at, value);
      Format::write(out, value);
    };

template <class Format, class T>
void read_as(const Spot& at, T& value) {
  if constexpr (std::same_as<Format, as::Natural>) {
    read_value(at, value);
  } else {
    Format::read(at, value);
  }
}

template <class Format, class T>
void write_as(Output& out, const T& value) {
  if constexpr (std::same_as<Format, as::Natural>) {
    write_value(out, value);
  } else {
    Format::write(out, value);
  }
}

// ---- the three visitors of fields() ------------------------------------------------------------

class Reader {
 public:
  explicit Reader(const Spot& at) : at_(at) {}

  template <class T, class Format = as::Natural>
  void required(std::string_view name, T& value, Format = {}) {
    if (const Node* member = take(name)) {
      read_as<Format>(at_.member(*member), value);
    } else if (missing_.empty()) {
      missing_ = name;
    }
  }
  template <class T, class Format = as::Natural>
  void optional(std::string_view name, std::optional<T>& value, Format = {}) {
    value.reset();
    if (const Node* member = take(name)) read_as<Format>(at_.member(*member), value.emplace());
  }
  template <class T, class Format = as::Natural>
    requires FormatOf<Format, T>
  void with_default(std::string_view name, T& value, Format format = {}) {
    with_default(name, value, T{}, format);
  }
  template <class T, class Format = as::Natural>
  void with_default(std::string_view name, T& value, const std::type_identity_t<T>& fallback,
                    Format = {}) {
    if (const Node* member = take(name)) {
      read_as<Format>(at_.member(*member), value);
    } else {
      value = fallback;
    }
  }
  int version() const { return at_.version(); }  // of the document: older ones lack later fields

  const Node* take(std::string_view name);  // null when it is absent

  // True when every member was taken and none was missed; else only names are wanted for the error.
  bool finish() const;
  // An unknown field before a missing one: it is most likely the same, misspelt.
  void refuse_names(std::span<const std::string_view> known) const;

 private:
  const Spot& at_;
  size_t next_ = 0;  // documents are nearly always in the order of their description
  size_t taken_ = 0;
  std::string_view missing_;
};

class Writer {
 public:
  Writer(Output& out, int version) : out_(out), version_(version) {}

  template <class T, class Format = as::Natural>
  void required(std::string_view name, const T& value, Format = {}) {
    begin(name);
    write_as<Format>(out_, value);
  }
  template <class T, class Format = as::Natural>
  void optional(std::string_view name, const std::optional<T>& value, Format format = {}) {
    if (value) required(name, *value, format);
  }
  template <class T, class Format = as::Natural>
    requires FormatOf<Format, T>
  void with_default(std::string_view name, const T& value, Format format = {}) {
    with_default(name, value, T{}, format);
  }
  template <class T, class Format = as::Natural>
  void with_default(std::string_view name, const T& value, const std::type_identity_t<T>& fallback,
                    Format format = {}) {
    if (!(value == fallback)) required(name, value, format);
  }
  int version() const { return version_; }

  void open() { out_.text += '{'; }
  void close() { out_.text += '}'; }

 private:
  void begin(std::string_view name) {  // names are ours: nothing in them needs escaping
    out_.text += first_ ? "\"" : ",\"";
    first_ = false;
    out_.text += name;
    out_.text += "\":";
  }

  Output& out_;
  int version_;
  bool first_ = true;
};

// Lists the names, for errors only.
class Names {
 public:
  explicit Names(int version) : version_(version) {}

  template <class... Anything>
  void required(std::string_view name, const Anything&...) {
    list.push_back(name);
  }
  template <class... Anything>
  void optional(std::string_view name, const Anything&...) {
    list.push_back(name);
  }
  template <class... Anything>
  void with_default(std::string_view name, const Anything&...) {
    list.push_back(name);
  }
  int version() const { return version_; }

  std::vector<std::string_view> list;

 private:
  int version_;
};

template <class T>
concept Described = requires(Names& names, T& value) { fields(names, value); };

// ---- what is made of other things ---------------------------------------------------------------

template <Described T>
std::vector<std::string_view> names_of(int version) {
  Names names(version);
  T any{};
  fields(names, any);
  return std::move(names.list);
}

template <Described T>
void read_value(const Spot& at, T& value) {
  if (!at.expect(Node::Kind::object)) return;
  Reader reader(at);
  fields(reader, value);
  if (!reader.finish()) reader.refuse_names(names_of<T>(at.version()));
}

template <Described T>
void write_value(Output& out, const T& value) {
  Writer writer(out, out.version);
  writer.open();
  fields(writer, const_cast<T&>(value));  // one description for both; Writer changes nothing
  writer.close();
}

template <class E>
  requires std::is_enum_v<E>
void read_value(const Spot& at, E& value) {
  if (!at.expect(Node::Kind::string)) return;
  const auto words = words_of(E{});
  for (const auto& known : words) {
    if (known.word == at.node().text) {
      value = known.value;
      return;
    }
  }
  std::vector<std::string_view> list;
  for (const auto& known : words) list.push_back(known.word);
  at.refuse_word(list);
}

template <class E>
  requires std::is_enum_v<E>
std::string_view word_of(E value) {
  for (const auto& known : words_of(E{})) {
    if (known.value == value) return known.word;
  }
  broken_invariant("an enum's value without a word", __FILE__, __LINE__);
}

template <class E>
  requires std::is_enum_v<E>
void write_value(Output& out, E value) {
  out.text += '"';
  out.text += word_of(value);
  out.text += '"';
}

template <class T>
void read_value(const Spot& at, std::vector<T>& values) {
  values.clear();
  if (!at.expect(Node::Kind::array)) return;
  values.reserve(at.node().items.size());
  for (size_t i = 0; i < at.node().items.size() && !at.failed(); ++i) {
    read_value(at.item(i), values.emplace_back());
  }
}

template <class T>
void write_value(Output& out, const std::vector<T>& values) {
  out.text += '[';
  bool first = true;
  for (const T& value : values) {
    if (!first) out.text += ',';
    first = false;
    write_value(out, value);
  }
  out.text += ']';
}

inline const std::string& key_text(const std::string& key) { return key; }
template <class Tag>
const std::string& key_text(const Id<Tag>& key) {
  return key.text;
}

template <class Key, class T>
void read_value(const Spot& at, std::map<Key, T>& values) {
  values.clear();
  if (!at.expect(Node::Kind::object)) return;
  for (const Node& member : at.node().items) {
    if (at.failed()) return;
    read_value(at.member(member), values[Key(member.key)]);
  }
}

template <class Key, class T>
void write_value(Output& out, const std::map<Key, T>& values) {
  out.text += '{';
  bool first = true;
  for (const auto& [key, value] : values) {
    if (!first) out.text += ',';
    first = false;
    append_json_string(out.text, key_text(key));
    out.text += ':';
    write_value(out, value);
  }
  out.text += '}';
}

// ---- documents ---------------------------------------------------------------------------------

// What a document says of itself, and what it is called in errors.
struct Heading {
  std::string_view what;       // "pool row", "offer.yaml"
  int version = 1;             // the newest that is understood
  std::string_view noun = {};  // when not empty, the document may say "noun" and must then say this
  Pointing pointing = Pointing::line_and_column;
  size_t max_bytes = k_max_row_bytes;
};

// Appends, for callers that keep one buffer for many.
template <Described T>
void append_json(std::string& text, const T& value, int version = 1) {
  Output out{text, version};
  Writer writer(out, version);
  writer.open();
  writer.required("version", version);
  fields(writer, const_cast<T&>(value));  // as in write_value
  writer.close();
}

template <Described T>
std::string write_json(const T& value, int version = 1) {
  std::string text;
  text.reserve(512);
  append_json(text, value, version);
  return text;
}

void read_heading(const Spot& at, const Heading& heading, Reader& reader);

template <Described T>
Result<T> read_node(const Node& root, const Heading& heading) {
  Verdict verdict{heading.what, heading.pointing};
  const Spot at(verdict, root);
  T value{};
  if (at.expect(Node::Kind::object)) {
    Reader reader(at);
    read_heading(at, heading, reader);
    fields(reader, value);
    if (!reader.finish()) {
      std::vector<std::string_view> names = names_of<T>(at.version());
      names.emplace_back("version");
      if (!heading.noun.empty()) names.emplace_back("noun");
      reader.refuse_names(names);
    }
  }
  if (verdict.error) return tl::unexpected(std::move(*verdict.error));
  if constexpr (requires {
                  { validate(value) } -> std::same_as<Status>;
                }) {
    if (auto status = validate(value); !status) {
      return tl::unexpected(
          locate(root, heading.what, heading.pointing, std::move(status).error()));
    }
  }
  return value;
}

template <Described T>
Result<T> read_json(std::string_view text, const Heading& heading) {
  const auto root = parse_json(text, heading.what, heading.max_bytes);
  if (!root) return tl::unexpected(root.error());
  return read_node<T>(*root, heading);
}

template <Described T>
Result<T> read_json(std::string_view text, std::string_view what, int version = 1) {
  return read_json<T>(text, Heading{.what = what, .version = version});
}

template <Described T>
Result<T> read_yaml(std::string_view text, const Heading& heading) {
  const auto root = parse_yaml(text, heading.what, heading.max_bytes);
  if (!root) return tl::unexpected(root.error());
  return read_node<T>(*root, heading);
}

}  // namespace spillway::model
