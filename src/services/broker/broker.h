// Broker: everything put together, on one Poll.
#pragma once

#include <memory>

#include "host/loop.h"
#include "net/server.h"
#include "services/broker/authority_issuer.h"
#include "services/broker/config.h"
#include "services/broker/event_hub.h"
#include "services/operations_port.h"
#include "store/sqlite_store.h"

namespace spillway::services {

class Broker {
 public:
  static Result<std::unique_ptr<Broker>> start(net::Poll& poll, host::Loop& loop,
                                               const BrokerConfig& config, Log& journal);
  ~Broker();

  uint16_t port() const { return server_->port(); }
  // Answers what is being handled, then calls `done`.
  void drain(std::function<void()> done);
  void reload();  // the authority's folder, after a rotation
  const Desk& desk() const { return desk_; }

 private:
  Broker(host::Loop& loop, const BrokerConfig& config, Log& journal, AuthorityIssuer issuer,
         std::unique_ptr<store::SqliteStore> store);
  Status listen(net::Poll& poll);
  void wire_up();
  void add_gauges();
  void look_after_certificates();  // the members' and our own
  Status take_tls();

  host::Loop& loop_;
  BrokerConfig config_;
  Log& journal_;
  AuthorityIssuer issuer_;
  std::unique_ptr<store::SqliteStore> store_;
  host::SystemRandom random_;
  Metrics metrics_;
  host::BookHost book_;
  host::CatalogueFeed feed_;
  host::EventLog log_;
  host::Directory directory_;
  EventHub hub_;
  Desk desk_;
  Api api_;
  pki::ServerNames names_;
  Instant certificate_until_;
  std::unique_ptr<net::Server> server_;
  OperationsPort operations_;
  host::Lifeline lifeline_;
};

inline constexpr std::string_view k_market_file = "market.db";
inline constexpr std::string_view k_authority_folder = "authority";

}  // namespace spillway::services
