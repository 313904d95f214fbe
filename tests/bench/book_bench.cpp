// The book alone: how many holds one core can decide on a pool with a thousand live contracts.
#include "market/book.h"

#include "base/check.h"
#include "bench/bench.h"
#include "bench/holding.h"

namespace spillway::bench {
namespace {

constexpr int k_live = 1000;
constexpr int k_batch = 256;  // as many as a host decides on one workspace
constexpr int k_rounds = 200;
constexpr int k_buyers = 64;
constexpr Instant k_now{1'800'000'000'000};

// Rows that are not there are loaded as absent ones, as a host would.
void decide(market::Workspace& workspace, const market::Command& command) {
  const market::Context context{k_now, {}};
  auto answer = market::decide(workspace, command, context);
  while (workspace.lacks_rows()) {
    for (const market::Key& key : workspace.missing()) workspace.add(key, 0, {});
    answer = market::decide(workspace, command, context);
  }
  SPILLWAY_CHECK(answer.has_value(), answer ? "" : answer.error().message());
}

market::Hold numbered(int64_t number) {
  market::Hold hold = hold_number(number, k_buyers);
  hold.fresh = {make_contract_id(k_now, static_cast<uint64_t>(number), 7)};
  return hold;
}

// As a host would have loaded it: with the rows that `holds` will ask for.
market::Workspace market_with_live_contracts(const std::vector<market::Command>& holds) {
  market::Workspace making;
  for (const auto& command : market_of_one_pool(500'000, k_buyers)) decide(making, command);
  for (int i = 0; i < k_live; ++i) decide(making, numbered(i));
  market::Workspace loaded;
  for (const auto& [key, entry] : making.rows()) loaded.add(key, 1, entry.record);
  for (const market::Command& command : holds) {
    const auto& hold = std::get<market::Hold>(command);
    loaded.add(market::request_key(hold.buyer, hold.key), 0, {});
    loaded.add(market::key_of(hold.fresh.front()), 0, {});
  }
  return loaded;
}

}  // namespace

SPILLWAY_BENCH(book, decisions) {
  std::vector<market::Command> holds;
  for (int i = 0; i < k_batch; ++i) holds.emplace_back(numbered(k_live + i));
  market::Workspace workspace = market_with_live_contracts(holds);
  const market::Context context{k_now, {}};
  std::vector<double> rates;
  for (int repetition = 0; repetition < k_repetitions; ++repetition) {
    double seconds = 0;
    for (int round = 0; round < k_rounds; ++round) {
      workspace.rewind();
      const double start = cpu_seconds();
      for (const market::Command& hold : holds) {
        const auto answer = market::decide(workspace, hold, context);
        SPILLWAY_CHECK(answer.has_value(), answer ? "" : answer.error().message());
      }
      seconds += cpu_seconds() - start;
    }
    rates.push_back(k_batch * k_rounds / seconds);
  }
  report.at_least("decisions_per_cpu_s", rates, "holds/CPU-s", 300'000);
}

}  // namespace spillway::bench
