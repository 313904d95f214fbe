// The wire: how parties reach brokers in the simulation. The same messages as over TLS, carried by
// the simulated network with the faults that connections have.
//
// A request arrives once or never, and so does its answer; who hears nothing is told `unavailable`
// after a while and does not know what became of it. A stream's bytes arrive in order up to some
// point, and then no more: each side learns of that late, on its own, or by hearing nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/lifeline.h"
#include "net/channel.h"
#include "net/exchange.h"
#include "sim/network.h"

namespace spillway::sim {

// A request as it came, for those who look at the answer.
struct Asked {
  net::Request request;
  net::Peer peer;
  bool must_refuse = false;  // the broker knows that the caller is revoked
};

// How a client knows that a stream is dead.
struct Patience {
  Duration silence = seconds(45);  // nothing was heard for so long
  bool probes = false;             // its kernel asks the other side now and then
};

// Who listens to a stream, and what it was told last.
struct Hearing {
  std::string name;
  int64_t last = -1;  // -1: it did not say from where on
};

class Pipe;

// A broker, or an API server, as the network reaches it.
class Door {
 public:
  virtual ~Door() = default;
  virtual Address address() const = 0;
  virtual Process& process() = 0;
  virtual std::weak_ptr<const bool> alive() const = 0;  // expires with this life of it
  virtual void arrive(const std::shared_ptr<Asked>& asked,
                      std::shared_ptr<net::Exchange> exchange) = 0;
  // What leaves, before it does. `dropped`: nobody will ever answer.
  virtual void leaves(const Asked& asked, const net::Response& response) = 0;
  virtual void begins(const std::shared_ptr<Pipe>& pipe) = 0;  // a stream
  virtual void tells(Hearing& hearing, std::string_view bytes) = 0;
  virtual void dropped(const Asked& asked) = 0;
};

// The streams that a broker has open, as its own side sees them.
class OpenPipes {
 public:
  void add(const std::shared_ptr<Pipe>& pipe);
  void cut(const std::function<bool(const net::Peer&)>& whose);
  void crash();  // of the broker

 private:
  std::vector<std::weak_ptr<Pipe>> pipes_;
};

struct StreamCount {
  int now = 0;
  int most = 0;
};

// Whoever lets go of it is told nothing any more; what it has sent arrives all the same.
class SimChannel : public net::Channel {
 public:
  SimChannel(Process& process, Address at, Network& network, std::vector<Door*> doors);

  // On connections from now on; null: none.
  void show(std::shared_ptr<const net::PeerCertificate> certificate);
  // Sees every request as it leaves; the status of every answer that arrives.
  void watch_requests(std::function<void(const net::Request&)> then);
  void watch_answers(std::function<void(int)> then);
  // Changes answers before they are heard: who stands in between can.
  using Alter = std::function<void(const net::Request&, net::Response&)>;
  void alter_answers(Alter alter) { alter_ = std::move(alter); }
  void set_patience(const Patience& patience) { patience_ = patience; }
  // Streams that are open on this side now, and at any one time.
  int streams() const { return count_->now; }
  int most_streams() const { return count_->most; }
  void move_on() { door_ = nullptr; }  // the next request goes to any broker

  void send(net::Request request, net::OnResponse then) override;
  std::unique_ptr<net::Reading> open(net::Request request, net::StreamCalls calls) override;

 private:
  struct Errand;

  Door& any_door();
  std::shared_ptr<Asked> make_asked(net::Request request);
  void answer(const std::shared_ptr<Errand>& errand, Result<net::Response> response);

  Process& process_;
  Address address_;
  Network& network_;
  std::vector<Door*> doors_;
  Door* door_ = nullptr;  // of the connection that is kept alive
  std::shared_ptr<const net::PeerCertificate> certificate_;
  std::function<void(const net::Request&)> on_request_;
  std::function<void(int)> on_status_;
  Alter alter_;
  Patience patience_;
  std::shared_ptr<StreamCount> count_ = std::make_shared<StreamCount>();
  host::Lifeline lifeline_;
};

}  // namespace spillway::sim
