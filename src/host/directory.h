// Directory: who is who, in memory, for a broker that has to know with every request.
//
// All identities are loaded once, page by page; then the event log says which have changed, and
// they are loaded again. What this process commits itself counts at once, so that a revocation
// holds from the moment that it is acknowledged; on other brokers as soon as their log has it.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/event_log.h"
#include "host/lifeline.h"
#include "host/loop.h"
#include "host/store.h"

namespace spillway::host {

class Directory {
 public:
  using Listener = std::function<void(const model::Identity&)>;

  Directory(Loop& loop, Store& store, EventLog& log);
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  void start();
  // For BookHost::listen.
  void learn(const Commit& commit);
  // Reads one from the store, then calls: for what may have been committed elsewhere, and is about
  // to be told to somebody who will count on it here.
  void look_up(const std::string& name, std::function<void(const Status&)> then);

  // Null: nobody has joined under this name, or not everything is loaded yet.
  market::Shared<model::Identity> find(const std::string& name) const;
  bool is_ready() const { return ready_; }            // everything was loaded once
  const Status& trouble() const { return trouble_; }  // why the last page could not be loaded
  size_t size() const { return known_.size(); }
  // By name, those after `name`.
  std::vector<market::Shared<model::Identity>> list_after(const std::string& name,
                                                          size_t limit) const;

  // Hears of every identity that is new or has changed, once everything was loaded.
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

 private:
  struct Known {
    int64_t version = 0;  // at least
    market::Shared<model::Identity> identity;
  };

  void load_all();
  void load_page(std::string after);
  void reload();
  void take(int64_t version, const market::Shared<model::Identity>& identity);

  Loop& loop_;
  Store& store_;
  EventLog& log_;
  std::vector<Listener> listeners_;
  std::unordered_map<std::string, Known> known_;
  std::set<std::string> changed_;  // names, to be loaded again
  uint64_t round_ = 0;             // of loading everything: a newer one ends an older
  Status trouble_;
  bool ready_ = false;
  bool busy_ = false;
  Lifeline lifeline_;
};

}  // namespace spillway::host
