// spillway pools: what a provider sells from; for operators and viewers, what all of them do.
#include "cli/asking.h"
#include "cli/documents.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

std::string state_of(const wire::PoolRow& row, Instant at) {
  if (row.withdrawn) return "withdrawn";
  if (row.oversold_since) return "oversold";
  return row.lease_until < at ? "silent" : "on sale";
}

int list_pools(const Asking& asking) {
  return with_session("pools", asking, [&](Session& session) -> Status {
    const auto page = all_pages(session, &wire::BrokerClient::list_pools, &wire::PoolPage::pools);
    if (!page) return tl::unexpected(page.error());
    const Clock clock = asking.clock();
    Table table({{"POOL"}, {"STATE"}, {"LEASE"}, {"CAPACITY"}, {"SOLD"}});
    for (const wire::PoolRow& row : page->pools) {
      table.add({row.pool.id.text, state_of(row, clock.now), clock(row.lease_until),
                 to_text(row.pool.capacity),
                 row.committed.is_zero() ? std::string("nothing") : to_text(row.committed)});
    }
    return show(asking.form(), json_of(*page), table,
                "No pools. An agent with --policy or --supply publishes its own.");
  });
}

}  // namespace

void add_pools(Word verb) {
  auto asking = std::make_shared<Asking>();
  add_asking(verb, *asking);
  verb.examples(
      "  spillway pools\n"
      "  spillway pools list -o wide\n"
      "  spillway pools -o json | jq '.pools[].pool.id'\n");
  const Word list = verb.add("list", "All that this identity may see");
  add_asking(list, *asking);
  verb.run([asking] { return list_pools(*asking); });
}

}  // namespace spillway::cli
