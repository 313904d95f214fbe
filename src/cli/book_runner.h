// BookRunner: the shipping book on a SQLite file, with nobody else around; asking waits for the
// answer. For setting a broker up before it runs.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "host/book_host.h"
#include "host/random.h"
#include "services/service_loop.h"
#include "store/sqlite_store.h"

namespace spillway::cli {

class BookRunner {
 public:
  static Result<std::unique_ptr<BookRunner>> open(const std::string& file);
  ~BookRunner();
  BookRunner(const BookRunner&) = delete;
  BookRunner& operator=(const BookRunner&) = delete;

  Result<market::Answer> ask(market::Command command, market::Origin origin);

 private:
  BookRunner() = default;

  services::LoneLoop loop_;
  host::SystemRandom random_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<host::BookHost> host_;
  std::thread thread_;
};

}  // namespace spillway::cli
