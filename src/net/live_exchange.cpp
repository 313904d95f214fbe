#include "net/live_exchange.h"

#include <utility>

namespace spillway::net {

std::shared_ptr<Connection> LiveExchange::take() { return std::exchange(connection_, {}).lock(); }

LiveExchange::~LiveExchange() {
  if (const auto connection = take()) {
    connection->respond(handler_.refuse(500, "the request was dropped without an answer"));
  }
}

void LiveExchange::respond(Response response) {
  if (const auto connection = take()) connection->respond(response);
}

std::shared_ptr<Stream> LiveExchange::stream(Response head) {
  const auto connection = take();
  return connection != nullptr ? connection->open_stream(head) : nullptr;
}

bool LiveStream::send(std::string_view bytes) {
  if (connection_ == nullptr || is_closed_) return false;
  connection_->send_to_stream(bytes);
  return true;
}

size_t LiveStream::unsent() const { return connection_ != nullptr ? connection_->unsent() : 0; }

void LiveStream::close() {
  if (connection_ == nullptr || std::exchange(is_closed_, true)) return;
  connection_->end_stream();
}

void LiveStream::on_gone(std::function<void()> then) {
  if (connection_ == nullptr) {
    then();
  } else {
    then_ = std::move(then);
  }
}

void LiveStream::lose_connection() {
  connection_ = nullptr;
  if (const auto then = std::exchange(then_, nullptr)) then();
}

}  // namespace spillway::net
