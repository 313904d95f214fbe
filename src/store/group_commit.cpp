#include "store/group_commit.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/check.h"

namespace spillway::store {
namespace {

class Group {
 public:
  Group(Connection& connection, Tables& tables) : connection_(connection), tables_(tables) {}

  // An error here is the disk's; the commits' own outcomes are in `answers`.
  Status run(std::span<const host::Commit* const> commits,
             std::vector<Result<host::Committed>>& answers) {
    auto transaction = Transaction::begin(connection_, Transaction::For::write);
    if (!transaction) return tl::unexpected(std::move(transaction).error());
    auto meta = tables_.meta();
    if (!meta) return tl::unexpected(std::move(meta).error());
    meta_ = *meta;

    bool wrote = false;
    for (size_t i = 0; i < commits.size(); ++i) {
      commit_number_ = i + 1;
      auto refusal = refusal_of(*commits[i]);
      if (!refusal) return tl::unexpected(std::move(refusal).error());
      if (*refusal) {
        answers[i] = tl::unexpected(std::move(**refusal));
        continue;
      }
      auto committed = write(*commits[i]);
      if (!committed) return tl::unexpected(std::move(committed).error());
      answers[i] = *committed;
      wrote = true;
    }
    if (!wrote) return {};
    SPILLWAY_TRY(tables_.set_meta(meta_));
    return transaction->commit();
  }

 private:
  // Where a row stands inside the transaction.
  struct Standing {
    int64_t version = 0;
    size_t expected_by = 0;  // number of the last commit that named it; 0: none
    size_t written_by = 0;
  };
  struct Hash {
    size_t operator()(const market::Key* key) const { return std::hash<market::Key>{}(*key); }
  };
  struct Equal {
    bool operator()(const market::Key* a, const market::Key* b) const { return *a == *b; }
  };

  // Nothing: all expectations hold. The outer error is the disk's.
  Result<std::optional<Error>> refusal_of(const host::Commit& commit) {
    for (const host::Expectation& expectation : commit.expectations) {
      auto [found, is_new] = standings_.try_emplace(&expectation.key);
      if (is_new) {
        auto version = tables_.version_of(expectation.key, meta_);
        if (!version) {
          standings_.erase(found);
          // In quarantine: this commit's own trouble.
          if (version.error().code == Code::internal) return std::optional(version.error());
          return tl::unexpected(std::move(version).error());
        }
        found->second.version = *version;
      }
      if (found->second.version != expectation.version) {
        return std::optional(
            Error{Code::conflict,
                  fmt::format("{} {}", table_of(expectation.key.kind), expectation.key.id),
                  fmt::format("version {} was expected, it has {}", expectation.version,
                              found->second.version),
                  "load it and decide again"});
      }
      found->second.expected_by = commit_number_;
    }
    return std::optional<Error>();
  }

  Result<host::Committed> write(const host::Commit& commit) {
    ++meta_.last_commit;
    for (const host::Put& put : commit.puts) {
      auto found = standings_.find(&put.key);
      SPILLWAY_CHECK(found != standings_.end() && found->second.expected_by == commit_number_,
                     "a row is written whose version was not expected");
      Standing& standing = found->second;
      SPILLWAY_CHECK(standing.written_by != commit_number_, "a commit writes a row twice");
      standing.written_by = commit_number_;
      const bool remove = market::is_absent(put.record);
      const bool exists = standing.version != 0;
      if (remove && !exists) continue;
      SPILLWAY_TRY(tables_.put(put.key, exists, meta_.last_commit, put.record));
      standing.version = remove ? 0 : meta_.last_commit;
    }

    host::Committed committed;
    committed.first_event = meta_.last_event + 1;
    committed.version = meta_.last_commit;
    for (market::Event event : commit.events) {
      event.sequence = ++meta_.last_event;
      SPILLWAY_TRY(tables_.append(event));
    }
    committed.last_event = meta_.last_event;
    meta_.at = std::max(meta_.at, commit.at);
    return committed;
  }

  Connection& connection_;
  Tables& tables_;
  Meta meta_;
  size_t commit_number_ = 0;
  std::unordered_map<const market::Key*, Standing, Hash, Equal> standings_;
};

}  // namespace

std::vector<Result<host::Committed>> commit_group(Connection& connection, Tables& tables,
                                                  std::span<const host::Commit* const> commits) {
  std::vector<Result<host::Committed>> answers(commits.size());
  // The transaction ends before an answer is given: on failure the rollback lies behind us too.
  Status done = Group(connection, tables).run(commits, answers);
  if (!done) {
    Error error = std::move(done).error();
    error.code = Code::unavailable;  // whatever it was: those who asked cannot know the outcome
    for (auto& answer : answers) {
      if (answer) answer = tl::unexpected(error);
    }
  }
  return answers;
}

}  // namespace spillway::store
