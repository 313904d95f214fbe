// Writes the fields that Reader reads (fabric/liqo/reader.h), from the same description. What is
// empty is left out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "fabric/liqo/reader.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

class Writer {
 public:
  explicit Writer(model::Node& at) : at_(at) {}

  void needed(std::string_view) {}
  void text(std::string_view path, const std::string& value);
  void name(std::string_view path, const std::string& value) { text(path, value); }
  void id(std::string_view path, const std::string& value) { text(path, value); }
  void bytes(std::string_view path, const std::string& value);
  void flag(std::string_view path, bool value);
  void number(std::string_view path, int64_t value);
  void texts(std::string_view path, const Texts& value);
  void list(std::string_view path, const std::vector<std::string>& value);
  void amounts(std::string_view path, const Amounts& value);

  template <class E, size_t n>
  void word(std::string_view path, E value, const Word<E> (&words)[n]) {
    for (const Word<E>& one : words) {
      if (one.value == value) return text(path, std::string(one.word));
    }
    SPILLWAY_CHECK(false, "a value without a word");
  }

  template <class T>
  void part(std::string_view path, T& value) {
    model::Node made = object();
    Writer inner(made);
    fields(inner, value);
    if (!made.items.empty()) put(path, std::move(made));
  }
  template <class T>
  void part(std::string_view path, std::optional<T>& value) {
    if (!value) return;
    put(path, object());  // also when nothing is in it
    part(path, *value);
  }
  template <class T>
  void parts(std::string_view path, std::vector<T>& value) {
    if (value.empty()) return;
    model::Node made = array();
    for (T& item : value) {
      model::Node& written = made.items.emplace_back(object());
      Writer inner(written);
      fields(inner, item);
    }
    put(path, std::move(made));
  }
  template <class T>
  void parts(std::string_view path, std::map<std::string, T, std::less<>>& value) {
    if (value.empty()) return;
    model::Node made = object();
    for (auto& [key, item] : value) {
      model::Node& written = made.items.emplace_back(object());
      written.key = key;
      Writer inner(written);
      fields(inner, item);
    }
    put(path, std::move(made));
  }

 private:
  static model::Node object();
  static model::Node array();
  void put(std::string_view path, model::Node value);

  model::Node& at_;
};

model::Node empty_object(const Kind& kind);  // apiVersion and kind

// A description changes nothing of what it only writes.
template <class T>
model::Node write_object(T value) {
  model::Node made = empty_object(T::k_kind);
  Writer writer(made);
  fields(writer, value);
  return made;
}

}  // namespace spillway::fabric::liqo
