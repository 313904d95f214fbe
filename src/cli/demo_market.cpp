#include "cli/demo_market.h"

#include <optional>

namespace spillway::cli {

DemoMarket::DemoMarket() : world_(1), process_(world_), waiting_(world_) {}

Result<std::unique_ptr<DemoMarket>> DemoMarket::open(const std::filesystem::path& file) {
  std::unique_ptr<DemoMarket> demo(new DemoMarket());
  store::SqliteOptions options;
  options.clock = [world = &demo->world_] { return world->now(); };
  auto sqlite = store::SqliteStore::open(file.string(), options, demo->waiting_);
  if (!sqlite) return tl::unexpected(sqlite.error());
  demo->sqlite_ = std::move(*sqlite);
  demo->store_ =
      std::make_unique<sim::PatientStore>(*demo->sqlite_, demo->waiting_, demo->process_);
  demo->feed_ = std::make_unique<host::CatalogueFeed>(demo->process_, *demo->store_);
  // As seldom as it may be without seeming an outage: each virtual beat is a real write to the
  // disk.
  host::BookOptions book;
  book.beat_every = seconds(8);
  book.attend_every = seconds(8);
  demo->host_ =
      std::make_unique<host::BookHost>(demo->process_, *demo->store_, demo->random_, book);
  demo->host_->listen([feed = demo->feed_.get()](const host::Commit& commit,
                                                 const host::Committed&) { feed->learn(commit); });
  demo->host_->start();
  demo->feed_->start();
  return demo;
}

Result<market::Answer> DemoMarket::ask(market::Command command) {
  std::optional<Result<market::Answer>> answer;
  host_->submit(std::move(command),
                [&answer](Result<market::Answer> result) { answer = std::move(result); });
  while (!answer) world_.step();
  return std::move(*answer);
}

Result<rank::Ranking> DemoMarket::query(const ClusterId& buyer, const model::Intent& intent) {
  return feed_->query(buyer, intent, rank::Page{.size = 10, .cursor = {}},
                      rank::Detail::every_offer);
}

void DemoMarket::pass(Duration time) {
  const Instant end = world_.now() + time;
  bool arrived = false;
  world_.after(time, [&arrived] { arrived = true; });
  while (!arrived || world_.now() < end) world_.step();
}

}  // namespace spillway::cli
