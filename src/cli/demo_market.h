// The demo's market: the shipping book on a real SQLite file, under a virtual clock. Asking waits
// for the answer, so that the story can be told in a straight line.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "host/book_host.h"
#include "host/catalogue_feed.h"
#include "sim/patient_store.h"
#include "store/sqlite_store.h"

namespace spillway::cli {

class DemoMarket {
 public:
  static Result<std::unique_ptr<DemoMarket>> open(const std::filesystem::path& file);

  Result<market::Answer> ask(market::Command command);
  Result<rank::Ranking> query(const ClusterId& buyer, const model::Intent& intent);
  void pass(Duration time);
  Instant now() const { return world_.now(); }

 private:
  DemoMarket();

  sim::World world_;
  sim::Process process_;
  sim::WaitingLoop waiting_;
  host::SystemRandom random_;
  std::unique_ptr<store::SqliteStore> sqlite_;
  std::unique_ptr<sim::PatientStore> store_;
  std::unique_ptr<host::BookHost> host_;
  std::unique_ptr<host::CatalogueFeed> feed_;
};

}  // namespace spillway::cli
