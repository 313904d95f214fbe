// SaleSight: pools and offers as the sales of a commit met them. A commit is of many commands
// (host/batch.h), whose events are in their order: what was published after a sale did not count
// for it, though the rows show nothing else.
#pragma once

#include <string>

#include "sim/rows.h"

namespace spillway::sim {

class SaleSight {
 public:
  SaleSight(const Rows& rows, const host::Commit& commit, const Undo& undo)
      : rows_(rows), commit_(commit), undo_(undo) {}

  // As the last sale from that pool met it; of that contract, if it is named. Null: it is not
  // there, or was published on both sides of the sale, and no row has what was between.
  template <class T>
  const T* met(const market::Key& key, const PoolId& pool, const std::string& contract = {}) const {
    const Published published = when_published(key.id, pool, contract);
    if (!published.is_after) return rows_.get<T>(key);
    return published.is_before ? nullptr : was<T>(key);
  }

 private:
  struct Published {  // of the sale, in this commit
    bool is_before = false;
    bool is_after = false;
  };
  Published when_published(const std::string& subject, const PoolId& pool,
                           const std::string& contract) const;
  template <class T>
  const T* was(const market::Key& key) const {
    for (const auto& [row, before] : undo_.rows) {
      if (row == key) return held<T>(before.record);
    }
    return nullptr;
  }

  const Rows& rows_;
  const host::Commit& commit_;
  const Undo& undo_;
};

}  // namespace spillway::sim
