#include "sim/wire.h"

#include <algorithm>

#include "sim/sim_exchange.h"

namespace spillway::sim {
namespace {

constexpr Duration k_answer_patience = seconds(5);

// Dropping it closes the connection.
class PipeReading : public net::Reading {
 public:
  PipeReading(std::shared_ptr<Pipe> pipe, std::shared_ptr<StreamCount> count)
      : pipe_(std::move(pipe)), count_(std::move(count)) {
    count_->now += 1;
    count_->most = std::max(count_->most, count_->now);
  }
  ~PipeReading() override {
    count_->now -= 1;
    pipe_->abandon();
  }
  PipeReading(const PipeReading&) = delete;
  PipeReading& operator=(const PipeReading&) = delete;

 private:
  std::shared_ptr<Pipe> pipe_;
  std::shared_ptr<StreamCount> count_;
};

}  // namespace

void OpenPipes::add(const std::shared_ptr<Pipe>& pipe) {
  std::erase_if(pipes_, [](const std::weak_ptr<Pipe>& one) {
    const auto held = one.lock();
    return held == nullptr || held->is_gone();
  });
  pipes_.push_back(pipe);
}

void OpenPipes::cut(const std::function<bool(const net::Peer&)>& whose) {
  for (const auto& one : std::vector(pipes_)) {
    const auto pipe = one.lock();
    if (pipe != nullptr && !pipe->is_gone() && whose(pipe->asked().peer)) pipe->cut();
  }
}

void OpenPipes::crash() {
  for (const auto& one : std::exchange(pipes_, {})) {
    const auto pipe = one.lock();
    if (pipe != nullptr && !pipe->is_gone()) pipe->crash();
  }
}

struct SimChannel::Errand {
  net::OnResponse then;
  Door& door;
  uint64_t life;  // of the asker
};

SimChannel::SimChannel(Process& process, Address at, Network& network, std::vector<Door*> doors)
    : process_(process), address_(at), network_(network), doors_(std::move(doors)) {}

void SimChannel::show(std::shared_ptr<const net::PeerCertificate> certificate) {
  certificate_ = std::move(certificate);
  move_on();
}

void SimChannel::watch_requests(std::function<void(const net::Request&)> then) {
  on_request_ = std::move(then);
}

void SimChannel::watch_answers(std::function<void(int)> then) { on_status_ = std::move(then); }

Door& SimChannel::any_door() { return *doors_[process_.world().below(doors_.size())]; }

std::shared_ptr<Asked> SimChannel::make_asked(net::Request request) {
  if (on_request_) on_request_(request);
  auto asked = std::make_shared<Asked>();
  asked->request = std::move(request);
  asked->peer = {fmt::format("192.0.2.{}:40000", address_), certificate_};
  return asked;
}

void SimChannel::send(net::Request request, net::OnResponse then) {
  if (door_ == nullptr) door_ = &any_door();
  const auto errand = std::make_shared<Errand>(Errand{std::move(then), *door_, process_.life()});
  process_.after(k_answer_patience, lifeline_.guard([this, errand] {
    answer(errand, tl::unexpected(unavailable("it did not answer in time", "ask again")));
  }));
  const auto asked = make_asked(std::move(request));
  const SimExchange::Send back =
      lifeline_.guard([this, errand, asked](Result<net::Response> response) {
        if (response && alter_) alter_(asked->request, *response);
        network_.carry(errand->door.address(), address_,
                       lifeline_.guard([this, errand, response = std::move(response)] {
                         answer(errand, response);
                       }));
      });
  network_.carry(address_, door_->address(), [errand, asked, back] {
    if (!errand->door.process().is_up()) {
      return back(tl::unexpected(unavailable("it refused the connection", "ask again")));
    }
    errand->door.arrive(asked, std::make_shared<SimExchange>(errand->door, asked, back));
  });
}

// The first answer counts, be it that there is none.
void SimChannel::answer(const std::shared_ptr<Errand>& errand, Result<net::Response> response) {
  if (!process_.is_up() || process_.life() != errand->life || !errand->then) return;
  const bool failed = !response || response->status == 503;
  if (failed && door_ == &errand->door) move_on();
  if (response && on_status_) on_status_(response->status);
  std::exchange(errand->then, nullptr)(std::move(response));
}

std::unique_ptr<net::Reading> SimChannel::open(net::Request request, net::StreamCalls calls) {
  // A connection of its own, to any of them.
  if (const auto on_status = on_status_) {
    calls.on_head = [on_status, on_head = std::move(calls.on_head)](const net::Response& head) {
      on_status(head.status);
      on_head(head);
    };
  }
  const auto pipe =
      std::make_shared<Pipe>(process_, address_, network_, any_door(),
                             make_asked(std::move(request)), std::move(calls), patience_);
  pipe->open();
  return std::make_unique<PipeReading>(pipe, count_);
}

}  // namespace spillway::sim
