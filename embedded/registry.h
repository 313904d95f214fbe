// Registry: the kinds that the API knows: the built-in ones, and those that custom resource
// definitions add. A kind, once known, stays at its address: objects in the history point at it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "embedded/kind.h"
#include "model/node.h"

namespace spillway::embedded {

class Registry {
 public:
  Registry();

  // Null: nothing of that name is served.
  const Kind* find(std::string_view group, std::string_view version, std::string_view plural) const;
  // As ownerReferences name it.
  const Kind* find_named(std::string_view group, std::string_view name) const;
  // A built-in one; that it is there is ours to know.
  const Kind& built_in(std::string_view plural, std::string_view group = {}) const;

  // From the document of a CustomResourceDefinition; adds the kind, which begins at that version
  // of the table, or changes what it serves.
  const Kind& define(const model::Node& definition, int64_t version);
  void withdraw(std::string_view group, std::string_view plural);

  template <class F>
  void for_each(F f) const {
    for (const auto& kind : kinds_) {
      if (kind->is_served) f(*kind);
    }
  }
  size_t size() const { return kinds_.size(); }

 private:
  Kind& add(Kind kind);
  static const Kind& define(Kind& kind, const model::Node& definition);

  std::vector<std::unique_ptr<Kind>> kinds_;
};

}  // namespace spillway::embedded
