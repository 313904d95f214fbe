#include "sim/sim_exchange.h"

#include <charconv>

namespace spillway::sim {

std::string name_of(const net::Peer& peer) {
  if (peer.certificate == nullptr) return {};
  return peer.certificate->uri.substr(peer.certificate->uri.rfind('/') + 1);
}

SimExchange::SimExchange(Door& door, std::shared_ptr<Asked> asked, Send send)
    : door_(door), asked_(std::move(asked)), send_(std::move(send)), alive_(door.alive()) {}

SimExchange::SimExchange(Door& door, std::shared_ptr<Asked> asked, std::shared_ptr<Pipe> pipe)
    : door_(door), asked_(std::move(asked)), pipe_(std::move(pipe)), alive_(door.alive()) {}

SimExchange::~SimExchange() {
  if (!answered_ && !alive_.expired()) door_.dropped(*asked_);
}

void SimExchange::respond(net::Response response) {
  if (std::exchange(answered_, true)) return;
  door_.leaves(*asked_, response);
  if (pipe_) return pipe_->head(std::move(response), true);
  send_(std::move(response));
}

std::shared_ptr<net::Stream> SimExchange::stream(net::Response head) {
  if (std::exchange(answered_, true)) return nullptr;
  if (!pipe_) return std::make_shared<SimBody>(std::move(head), send_, alive_);
  if (pipe_->is_gone()) return nullptr;
  Hearing hearing{name_of(asked_->peer), -1};
  if (const std::string* last = net::find_header(asked_->request.headers, "Last-Event-ID")) {
    std::from_chars(last->data(), last->data() + last->size(), hearing.last);
  }
  pipe_->head(std::move(head), false);
  door_.begins(pipe_);
  return std::make_shared<SimStream>(door_, pipe_, std::move(hearing));
}

void SimExchange::cut(const Error& why) {
  if (std::exchange(answered_, true)) return;
  if (pipe_) return pipe_->refuse(why);
  send_(tl::unexpected(why));
}

bool SimBody::send(std::string_view bytes) {
  response_.body += bytes;
  return send_ != nullptr;
}

void SimBody::close() {
  if (!send_) return;
  const auto send = std::exchange(send_, nullptr);
  if (alive_.expired()) {
    send(fail(Code::unavailable, "server", "the connection broke", "ask again"));
  } else {
    send(std::move(response_));
  }
  if (const auto then = std::exchange(on_gone_, nullptr)) then();
}

void SimBody::on_gone(std::function<void()> then) {
  if (!send_) return then();
  on_gone_ = std::move(then);
}

bool SimStream::send(std::string_view bytes) {
  if (!pipe_->send(bytes)) return false;
  door_.tells(hearing_, bytes);
  return true;
}

}  // namespace spillway::sim
