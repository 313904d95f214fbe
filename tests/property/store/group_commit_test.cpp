// Any sequence of commits, however it is cut into groups, has the same outcome as the same commits
// one by one on a map: the same winners, the same rows and versions, the same events.
#include "store/group_commit.h"

#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "store/migrations.h"
#include "store/recovery.h"
#include "support/sample_records.h"

namespace spillway::store {
namespace {

using namespace test;

struct Step {
  std::vector<std::pair<int, int64_t>> touched;  // key, and how far its expectation is off
  std::vector<int> actions;                      // by place in `touched`: 0 read, 1 write, 2 delete
  int events = 0;
};

// Keys 0-3 are pools, 4-7 contracts.
market::Key key_of(int n) {
  return n < 4 ? market::key_of(sample_pool_id(n)) : market::key_of(sample_contract_id(n));
}

market::Record record_of(int n, int64_t stamp) {
  if (n < 4) return shared(sample_pool(n, stamp));
  model::Contract contract = sample_contract(n, static_cast<int>(stamp % 3));
  contract.deadline = k_sample_time + seconds(stamp);
  if (stamp % 5 == 0) {
    contract.state = model::ContractState::closed;
    contract.reason = model::EndReason::released;
    for (model::Unit& unit : contract.units) {
      unit.live = false;
      unit.ended = k_sample_time;
    }
  }
  return shared(contract);
}

struct Model {
  std::map<int, std::pair<int64_t, market::Record>> rows;
  int64_t last_commit = 0;
  int64_t last_event = 0;
};

host::Commit commit_of(const Step& step, const Model& model, int64_t stamp) {
  host::Commit commit;
  commit.at = k_sample_time + seconds(stamp);
  for (size_t i = 0; i < step.touched.size(); ++i) {
    const auto [n, off] = step.touched[i];
    const auto found = model.rows.find(n);
    const int64_t version = found == model.rows.end() ? 0 : found->second.first;
    commit.expectations.push_back({key_of(n), std::max<int64_t>(0, version + off)});
    if (step.actions[i] == 1) commit.puts.push_back({key_of(n), record_of(n, stamp)});
    if (step.actions[i] == 2) commit.puts.push_back({key_of(n), {}});
  }
  for (int i = 0; i < step.events; ++i) {
    commit.events.push_back(sample_event(static_cast<int>(stamp)));
  }
  return commit;
}

// Whether it was accepted.
bool apply_to(Model& model, const Step& step, const host::Commit& commit, int64_t stamp) {
  for (size_t i = 0; i < step.touched.size(); ++i) {
    const auto found = model.rows.find(step.touched[i].first);
    const int64_t version = found == model.rows.end() ? 0 : found->second.first;
    if (commit.expectations[i].version != version) return false;
  }
  ++model.last_commit;
  for (size_t i = 0; i < step.touched.size(); ++i) {
    const int n = step.touched[i].first;
    if (step.actions[i] == 2) model.rows.erase(n);
    if (step.actions[i] == 1) model.rows[n] = {model.last_commit, record_of(n, stamp)};
  }
  model.last_event += step.events;
  return true;
}

Step any_step() {
  Step step;
  for (int n = 0; n < 8; ++n) {
    if (*rc::gen::inRange(0, 3) != 0) continue;
    // Mostly right, sometimes one too old or too new.
    step.touched.emplace_back(n, *rc::gen::weightedElement<int64_t>({{8, 0}, {1, -1}, {1, 1}}));
    step.actions.push_back(*rc::gen::weightedElement<int>({{1, 0}, {3, 1}, {1, 2}}));
  }
  step.events = *rc::gen::inRange(0, 3);
  return step;
}

std::set<std::string> live_ids(const Model& model, const std::string& pool) {
  std::set<std::string> ids;
  for (const auto& [n, row] : model.rows) {
    const market::Facets facets = market::facets_of(row.second);
    if (n >= 4 && facets.live && facets.group == pool) ids.insert(key_of(n).id);
  }
  return ids;
}

void expect_same(Connection& connection, Tables& tables, const Model& model) {
  const auto meta = tables.meta();
  RC_ASSERT(meta.has_value());
  RC_ASSERT(meta->last_event == model.last_event);
  for (int n = 0; n < 8; ++n) {
    const auto row = tables.read(key_of(n), *meta);
    RC_ASSERT(row.has_value());
    const auto found = model.rows.find(n);
    RC_ASSERT(row->version == (found == model.rows.end() ? 0 : found->second.first));
    if (row->version == 0) continue;
    if (n < 4) {
      RC_ASSERT(*std::get<market::Shared<market::PoolRecord>>(row->record) ==
                *std::get<market::Shared<market::PoolRecord>>(found->second.second));
    } else {
      RC_ASSERT(*std::get<market::Shared<model::Contract>>(row->record) ==
                *std::get<market::Shared<model::Contract>>(found->second.second));
    }
  }
  for (int p = 0; p < 3; ++p) {
    host::Scan scan;
    scan.name = sample_pool_id(p).text;
    const auto rows = tables.scan(scan);
    RC_ASSERT(rows.has_value());
    std::set<std::string> ids;
    for (const host::Row& row : *rows) ids.insert(row.key.id);
    RC_ASSERT(ids == live_ids(model, scan.name));
    scan.by = host::Scan::By::provider;  // of the one pool
    scan.name = sample_cluster(p).text;
    const auto sold = tables.scan(scan);
    RC_ASSERT(sold.has_value());
    RC_ASSERT(sold->size() == ids.size());
    for (const host::Row& row : *sold) RC_ASSERT(ids.contains(row.key.id));
  }
  const auto verified = verify(connection);
  RC_ASSERT(verified.has_value());
  RC_ASSERT(verified->is_clean());
}

RC_GTEST_PROP(GroupCommitProperty, GroupsHaveTheOutcomeOfSingleCommits, ()) {
  auto opened = Connection::open(":memory:", {});
  RC_ASSERT(opened.has_value());
  Connection& connection = **opened;
  RC_ASSERT(migrate(connection, migrations()).has_value());
  Tables tables(connection);

  Model model;
  int64_t stamp = 0;
  const int groups = *rc::gen::inRange(1, 8);
  for (int g = 0; g < groups; ++g) {
    std::vector<host::Commit> commits;
    std::vector<bool> accepted;
    std::vector<int64_t> first_events;
    const int count = *rc::gen::inRange(1, 10);
    for (int i = 0; i < count; ++i) {
      const Step step = any_step();
      ++stamp;
      commits.push_back(commit_of(step, model, stamp));
      first_events.push_back(model.last_event + 1);
      accepted.push_back(apply_to(model, step, commits.back(), stamp));
    }
    std::vector<const host::Commit*> pointers;
    for (const host::Commit& commit : commits) pointers.push_back(&commit);
    const auto answers = commit_group(connection, tables, pointers);
    for (size_t i = 0; i < answers.size(); ++i) {
      RC_ASSERT(answers[i].has_value() == accepted[i]);
      if (!accepted[i]) RC_ASSERT(answers[i].error().code == Code::conflict);
      if (accepted[i]) RC_ASSERT(answers[i]->first_event == first_events[i]);
    }
    expect_same(connection, tables, model);
  }
}

}  // namespace
}  // namespace spillway::store
