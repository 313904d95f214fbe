#include "cli/demo_story.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <thread>

#include "cli/asking.h"
#include "cli/demo_owner.h"
#include "cli/demo_say.h"
#include "cli/safe_text.h"

namespace spillway::cli {
namespace {

constexpr auto k_story_patience = std::chrono::seconds(30);
constexpr auto k_story_look = std::chrono::milliseconds(10);
// Longer than the 3 s of silence after which a broker that comes back begins a new epoch.
constexpr auto k_dark = std::chrono::milliseconds(3500);
constexpr const Seller& k_dearer = k_sellers[0];
constexpr int k_dearer_usd = 90;

Status await(const std::string& what, const std::function<Result<bool>()>& is_done) {
  const auto done = wait_until(k_story_patience, k_story_look, is_done);
  if (!done) return tl::unexpected(done.error());
  if (*done) return {};
  return fail(Code::unavailable, what, "it did not happen in time", "try again");
}

Result<wire::PoolPage> pools(DemoFederation& federation) {
  const auto session = federation.as(k_operator);
  if (!session) return tl::unexpected(session.error());
  return all_pages(**session, &wire::BrokerClient::list_pools, &wire::PoolPage::pools);
}

const wire::Candidate* find(const wire::QueryAnswer& told, const std::string& seller) {
  const auto found = std::find_if(
      told.candidates.begin(), told.candidates.end(),
      [&](const wire::Candidate& candidate) { return candidate.provider.text == seller; });
  return found == told.candidates.end() ? nullptr : &*found;
}

// What an outage must not change.
bool same(const std::vector<model::Contract>& a, const std::vector<model::Contract>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const model::Contract& x, const model::Contract& y) {
                      return x.id == y.id && x.state == y.state && x.rate == y.rate &&
                             x.started == y.started && x.live_units() == y.live_units();
                    });
}

}  // namespace

Status Story::gather() {
  say_chapter("1  A federation comes together");
  const Moment begun = clock_now();
  SPILLWAY_TRY(federation_.set_up_broker());
  SPILLWAY_TRY(federation_.start_broker());
  say("  spillway broker init, spillway broker: process {}, {}\n", federation_.broker_pid(),
      federation_.url());
  SPILLWAY_TRY(federation_.start_cluster(k_buyer, 1, 2));
  for (const Seller& seller : k_sellers) {
    SPILLWAY_TRY(federation_.start_cluster(seller.name, seller.units, seller.cpus));
  }
  say("  spillway cluster run, {} times: {:.1f} s\n", k_agents,
      ms_between(begun, clock_now()) / 1e3);
  SPILLWAY_TRY(federation_.join(k_buyer, "consumer"));
  SPILLWAY_TRY(federation_.start_agent(k_buyer));
  for (const Seller& seller : k_sellers) {
    SPILLWAY_TRY(federation_.join(seller.name, "provider"));
    SPILLWAY_TRY(federation_.write_policy(seller, seller.usd_hour));
    SPILLWAY_TRY(federation_.start_agent(seller.name));
  }
  const auto session = federation_.as(k_operator);
  if (!session) return tl::unexpected(session.error());
  const auto members =
      all_pages(**session, &wire::BrokerClient::list_identities, &wire::IdentityPage::identities);
  if (!members) return tl::unexpected(members.error());
  std::string names;
  for (const wire::IdentityRow& row : members->identities) {
    names += (names.empty() ? "" : ", ") + row.name;
  }
  say("  spillway token create, spillway join, spillway agent, {} times: {:.1f} s\n"
      "  The broker knows {}.\n",
      k_agents, ms_between(begun, clock_now()) / 1e3, safe(names));
  return await_sale();
}

Status Story::await_sale() {
  wire::QueryAnswer told;
  SPILLWAY_TRY(await("the sale", [&]() -> Result<bool> {
    if (const Status running = federation_.check_runs(); !running) {
      return tl::unexpected(running.error());
    }
    auto answer = trade_.ask(archive_pod().intent);
    if (!answer) return tl::unexpected(answer.error());
    told = std::move(*answer);
    return told.candidates.size() == k_sellers.size();
  }));
  const auto session = federation_.as(k_operator);
  if (!session) return tl::unexpected(session.error());
  const auto offers =
      all_pages(**session, &wire::BrokerClient::list_offers, &wire::OfferPage::offers);
  if (!offers) return tl::unexpected(offers.error());
  say("  Four agents sell what is free in their clusters. edge, in Turin, sees:\n\n"
      "{}"
      "\n  pr1 and pr2 are Table 1 of the Mid4CC 2025 paper: 3 units at 1 USD/min, 1 at 5.\n",
      sale_text(told, *offers));
  // Those who will be listened to are there before anything happens.
  for (const Seller& seller : k_sellers) {
    if (const auto ear = federation_.ear_of(seller.name); !ear) return tl::unexpected(ear.error());
  }
  return {};
}

Status Story::rise() {
  say_chapter("2  edge is full: four pods spill over, each to what is best for it");
  say("  Times count from the sending of a hold or a confirm; an agent that has heard\n"
      "  reports the unit back as carried.\n");
  SPILLWAY_TRY(trade_.take(web_pod("web-1")));
  SPILLWAY_TRY(trade_.take(batch_pod()));
  SPILLWAY_TRY(trade_.take(report_pod()));
  return trade_.take(archive_pod());
}

Status Story::await_free(const Seller& seller, int units) {
  return await(std::string("what is free at ") + seller.name, [&]() -> Result<bool> {
    const auto told = trade_.ask(archive_pod().intent);
    if (!told) return tl::unexpected(told.error());
    const wire::Candidate* candidate = find(*told, seller.name);
    return units == (candidate == nullptr ? 0 : candidate->free_units);
  });
}

Status Story::follow_owner() {
  constexpr const Seller& k_busy = k_sellers[3];
  say_chapter(fmt::format("3  {}'s owner has work of its own", k_busy.name));
  const int free = k_busy.units - 1;  // one is sold
  const std::string kubeconfig = federation_.kubeconfig(k_busy.name);
  const Moment begun = clock_now();
  SPILLWAY_TRY(run_own_pod(kubeconfig, "own-work", k_busy.cpus));
  SPILLWAY_TRY(await_free(k_busy, free - 1));
  say("  A pod of {} cpu starts in {}: {} ms later there are {} units on sale there, not {}.\n",
      k_busy.cpus, k_busy.name, static_cast<int>(ms_between(begun, clock_now())), free - 1, free);
  const Moment ended = clock_now();
  SPILLWAY_TRY(end_own_pod(kubeconfig, "own-work"));
  SPILLWAY_TRY(await_free(k_busy, free));
  say("  It ends, and {} ms later they are {} again.\n",
      static_cast<int>(ms_between(ended, clock_now())), free);
  return {};
}

Status Story::change_price() {
  say_chapter(fmt::format("4  {} edits its policy", k_dearer.name));
  const Moment written = clock_now();
  SPILLWAY_TRY(federation_.write_policy(k_dearer, k_dearer_usd));
  int64_t rate = 0;
  SPILLWAY_TRY(await("the new price", [&]() -> Result<bool> {
    const auto told = trade_.ask(web_pod("web-2").intent);
    if (!told) return tl::unexpected(told.error());
    const wire::Candidate* candidate = find(*told, k_dearer.name);
    if (candidate != nullptr) rate = candidate->rate;
    return rate == int64_t{k_dearer_usd} * 1'000'000;
  }));
  say("  {} costs {} USD/h, {:.1f} s after the file was written.\n", k_dearer.name, usd(rate),
      ms_between(written, clock_now()) / 1e3);
  const auto contracts = trade_.contracts();
  if (!contracts) return tl::unexpected(contracts.error());
  for (const model::Contract& contract : *contracts) {
    if (contract.provider.text != k_dearer.name) continue;
    say("  What was bought before stays at {} USD/h. The next pod chooses anew:\n",
        usd(contract.rate));
  }
  return trade_.take(web_pod("web-2"));
}

Status Story::tell_dark() {
  const auto asked = trade_.ask(archive_pod().intent);
  if (asked) return fail(Code::internal, "broker", "it answers though killed", "report this");
  say_wrapped("  Who asks now hears: " + safe(asked.error().message()), 4);
  return {};
}

// An agent is back when the book has its word, in the new epoch, on what it carries; the buyer's,
// which sells nothing, when it says that it follows the events again.
Status Story::await_return(Moment since, int64_t epoch, int connected) {
  std::set<std::string> back;
  const auto greet = [&](const std::string& name, const std::string& what) {
    if (!back.insert(name).second) return;
    say("  {:<6} is back {:.1f} s after the broker: {}\n", name,
        ms_between(since, clock_now()) / 1e3, what);
  };
  return await("the agents' return", [&]() -> Result<bool> {
    const auto page = pools(federation_);
    if (!page) return tl::unexpected(page.error());
    for (const wire::PoolRow& row : page->pools) {
      if (row.epoch == epoch) continue;
      greet(row.provider.text,
            fmt::format("confirms {} cpu sold, {} unaccounted for", row.committed.cpu_millis / 1000,
                        row.unaccounted.cpu_millis / 1000));
    }
    if (federation_.times_connected(k_buyer) > connected) {
      greet(k_buyer, "follows its events again");
    }
    return back.size() == k_agents;
  });
}

Status Story::lose_broker() {
  say_chapter("5  The broker is killed");
  const auto before = trade_.contracts();
  if (!before) return tl::unexpected(before.error());
  const auto page = pools(federation_);
  if (!page) return tl::unexpected(page.error());
  const int64_t epoch = page->pools.empty() ? 0 : page->pools.front().epoch;
  const int connected = federation_.times_connected(k_buyer);

  say("  kill -9 {}, with {} contracts in its book.\n", federation_.broker_pid(), before->size());
  federation_.kill_broker();
  SPILLWAY_TRY(tell_dark());
  std::this_thread::sleep_for(k_dark);
  const Moment begun = clock_now();
  SPILLWAY_TRY(federation_.start_broker());
  const Moment ready = clock_now();
  say("  {:.1f} s later it is started again: process {}, listening after {:.0f} ms.\n",
      std::chrono::duration<double>(k_dark).count(), federation_.broker_pid(),
      ms_between(begun, ready));
  const auto after = trade_.contracts();
  if (!after) return tl::unexpected(after.error());
  if (!same(*before, *after)) {
    return fail(Code::internal, "contracts", "they are not what they were", "report this");
  }
  SPILLWAY_TRY(federation_.check_runs());
  say("  {} contracts are there, each as it was. Nothing is sold until its seller has\n"
      "  said again what it carries; the agents come by themselves:\n",
      after->size());
  SPILLWAY_TRY(await_return(ready, epoch, connected));
  say("  And the sale goes on:\n");
  for (const Seller& seller : k_sellers) {
    if (const auto ear = federation_.ear_of(seller.name); !ear) return tl::unexpected(ear.error());
  }
  return trade_.take(web_pod("web-3"));
}

Status Story::ebb() {
  say_chapter("6  Night: the load ebbs, and everything goes back");
  SPILLWAY_TRY(trade_.give_back_all());
  say_chapter("7  What it came to, as the book settled it");
  return trade_.tell_bill();
}

Status Story::play() {
  for (const auto chapter : {&Story::gather, &Story::rise, &Story::follow_owner,
                             &Story::change_price, &Story::lose_broker, &Story::ebb}) {
    if (std::ferror(stdout) != 0) return {};  // nobody reads it; main() says so
    SPILLWAY_TRY((this->*chapter)());
  }
  return {};
}

}  // namespace spillway::cli
