// Reads fields of Liqo's objects. Together with Writer (fabric/liqo/writer.h) it visits one
// description of each object, so that what is written is what would be read:
//
//   template <class Fields>
//   void fields(Fields& f, Quota& q) {
//     f.part("metadata", q.meta);
//     f.needed("spec.user");
//     f.text("spec.user", q.user);
//   }
//
// Objects come from clusters that others run. Strict in what is read: a field of another type, too
// large or malformed makes the whole object unreadable, and the error names it. What is not asked
// for is not looked at. What is absent is empty; `needed` refuses that.
// Of what has to be ended whatever somebody writes into it, the rest is seen all the same
// (see_object): a field that cannot be read is empty or cut short, and the object says so.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/liqo/names.h"
#include "fabric/liqo/parts.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

// What one field may be; far above what Liqo writes. Kubernetes takes annotations up to this.
inline constexpr size_t k_longest_text = size_t{256} << 10;
inline constexpr size_t k_longest_name = 253;
inline constexpr size_t k_most_entries = 512;  // unless whoever reads says otherwise

template <class E>
struct Word {
  E value;
  std::string_view word;
};

class Reader {
 public:
  // Looks at `root`, which is of that kind: lists leave apiVersion and kind out of their items, but
  // what is there must be right.
  Reader(const model::Node& root, const Kind& kind);

  void needed(std::string_view path);
  void text(std::string_view path, std::string& value);
  void name(std::string_view path, std::string& value);   // as Kubernetes has them
  void id(std::string_view path, std::string& value);     // of a cluster
  void bytes(std::string_view path, std::string& value);  // base64 of them
  void flag(std::string_view path, bool& value);
  void number(std::string_view path, int64_t& value);  // from 0
  void texts(std::string_view path, Texts& value, size_t most = k_most_entries);
  void list(std::string_view path, std::vector<std::string>& value);
  void amounts(std::string_view path, Amounts& value);

  // Absent: the first of the words.
  template <class E, size_t n>
  void word(std::string_view path, E& value, const Word<E> (&words)[n]) {
    value = words[0].value;
    std::string said;
    text(path, said);
    if (said.empty()) return;
    for (const Word<E>& one : words) {
      if (one.word == said) {
        value = one.value;
        return;
      }
    }
    refuse_word(path, said);
  }

  template <class T>
  void part(std::string_view path, T& value) {
    Reader inner = inside(path);
    fields(inner, value);
    take_trouble(inner);
  }
  template <class T>
  void part(std::string_view path, std::optional<T>& value) {
    value.reset();
    if (find(path, model::Node::Kind::object)) part(path, value.emplace());
  }
  template <class T>
  void parts(std::string_view path, std::vector<T>& value) {
    value.clear();
    const model::Node* list = find(path, model::Node::Kind::array);
    if (list == nullptr || !is_few(path, *list)) return;
    for (const model::Node& item : list->items) read_item(path, item, value.emplace_back());
  }
  template <class T>
  void parts(std::string_view path, std::map<std::string, T, std::less<>>& value) {
    value.clear();
    const model::Node* object = find(path, model::Node::Kind::object);
    if (object == nullptr || !is_few(path, *object)) return;
    for (const model::Node& item : object->items) {
      if (is_key(path, item)) read_item(path, item, value[item.key]);
    }
  }

  Status status() const;

 private:
  Reader(const model::Node* at, std::string prefix, std::string thing);

  // Null when there is nothing, or when it is of another kind, which is trouble.
  const model::Node* find(std::string_view path, model::Node::Kind kind);
  const model::Node* find_text(std::string_view path);
  Reader inside(std::string_view path);
  bool is_few(std::string_view path, const model::Node& container, size_t most = k_most_entries);
  bool is_key(std::string_view path, const model::Node& member);
  void refuse(std::string_view path, std::string reason);
  void refuse_word(std::string_view path, std::string_view said);
  void take_trouble(Reader& inner);
  template <class T>
  void read_item(std::string_view path, const model::Node& item, T& value) {
    Reader inner(&item, prefix_ + std::string(path) + "[]", thing_);
    inner.expect_object();
    fields(inner, value);
    take_trouble(inner);
  }
  void expect_object();

  const model::Node* at_;  // null: nothing is here
  std::string prefix_;     // "spec.", for errors
  std::string thing_;
  std::optional<Error> trouble_;  // the first
};

// The object that `root` is.
template <class T>
Result<T> read_object(const model::Node& root) {
  Reader reader(root, T::k_kind);
  T made;
  fields(reader, made);
  SPILLWAY_TRY(reader.status());
  return made;
}

// Labels and annotations of these names, if they are there, whatever else is.
void keep_words(const model::Node& root, std::span<const std::string_view> words, Meta& meta);

// Of labels that were too many, those that are not for anybody to say (model/reserved.h).
void keep_reserved(const model::Node& root, std::initializer_list<std::string_view> path,
                   Texts& into);

// `words`: labels and annotations that are read even among too many others.
template <class T>
T see_object(const model::Node& root, std::span<const std::string_view> words) {
  Reader reader(root, T::k_kind);
  T made;
  fields(reader, made);
  const Status whole = reader.status();
  if (whole) return made;
  made.unreadable = whole.error().reason;
  keep_words(root, words, made.meta);
  return made;
}

}  // namespace spillway::fabric::liqo
