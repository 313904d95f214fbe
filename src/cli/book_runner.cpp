#include "cli/book_runner.h"

#include <future>

namespace spillway::cli {

Result<std::unique_ptr<BookRunner>> BookRunner::open(const std::string& file) {
  std::unique_ptr<BookRunner> runner(new BookRunner());
  auto store = store::SqliteStore::open(file, {}, runner->loop_);
  if (!store) return tl::unexpected(store.error());
  runner->store_ = std::move(*store);
  runner->host_ = std::make_unique<host::BookHost>(runner->loop_, *runner->store_, runner->random_,
                                                   host::BookOptions{});
  runner->host_->start();
  runner->thread_ = std::thread([loop = &runner->loop_] { loop->run(); });
  return runner;
}

BookRunner::~BookRunner() {
  if (!thread_.joinable()) return;
  loop_.stop();
  thread_.join();
}

Result<market::Answer> BookRunner::ask(market::Command command, market::Origin origin) {
  auto answer = std::make_shared<std::promise<Result<market::Answer>>>();
  auto future = answer->get_future();
  loop_.post([this, command = std::move(command), origin = std::move(origin), answer]() mutable {
    host_->submit(
        std::move(command),
        [answer](Result<market::Answer> result) { answer->set_value(std::move(result)); },
        std::move(origin));
  });
  return future.get();
}

}  // namespace spillway::cli
