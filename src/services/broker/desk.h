// Desk: all that a handler may reach. Call: one request on its way through the broker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/book_host.h"
#include "host/catalogue_feed.h"
#include "host/directory.h"
#include "host/event_log.h"
#include "net/exchange.h"
#include "services/broker/issuer.h"
#include "services/broker/request_metrics.h"
#include "services/broker/routes.h"
#include "services/log.h"
#include "services/metrics.h"

namespace spillway::services {

class EventHub;

struct Caps {
  size_t pools = 256;    // of one provider
  size_t offers = 4096;  // of one provider
  size_t streams = 16;   // of events, of one identity
  size_t page = 1000;    // rows in one answer
};

struct Desk {
  host::Loop& loop;
  host::Random& random;
  host::Store& store;
  host::BookHost& book;
  host::CatalogueFeed& feed;
  host::Directory& directory;
  host::EventLog& log;
  EventHub& hub;
  Issuer& issuer;
  Metrics& metrics;
  RequestMetrics request_metrics{metrics};
  Log& journal;
  Caps caps;
  bool draining = false;  // shutting down: no new work, please
};

struct Caller {
  std::string name;                // empty: nobody we know
  std::vector<model::Role> roles;  // empty for nobody
  Instant not_after;               // of the certificate
  std::string key;                 // of the certificate
  bool has(model::Role role) const { return model::has(roles, role); }
};

// Why what members and offers there are cannot be loaded just now, if it cannot.
inline const Status& loading_trouble(const Desk& desk) {
  return desk.directory.trouble() ? desk.feed.trouble() : desk.directory.trouble();
}

// Whether requests are served; if not, why.
Status readiness(const Desk& desk);

struct Call {
  net::Request request;
  net::Target target;
  const Route* route = nullptr;
  std::vector<std::string> parameters;
  Scope scope = Scope::none;
  Caller caller;
  std::string address;
  std::string id;  // of the request: in the answer, in the log and in the audit
  Instant began;
  std::shared_ptr<net::Exchange> exchange;

  std::string owned_id() const { return parameters[0] + "/" + parameters[1]; }
  ClusterId cluster() const { return ClusterId(caller.name); }
};

// Answers, and writes down that it did.
void reply(Desk& desk, Call& call, net::Response response);
void refuse(Desk& desk, Call& call, const Error& error);
void finish(Desk& desk, Call& call, int status);  // only the writing down: for streams

// The book's answer, or its refusal as a problem.
void submit(Desk& desk, const std::shared_ptr<Call>& call, market::Command command,
            std::function<void(const market::Answer&)> then);
// For submit(): answers that it is done, where there is nothing more to tell.
std::function<void(const market::Answer&)> done(Desk& desk, const std::shared_ptr<Call>& call);
void load(Desk& desk, const std::shared_ptr<Call>& call, host::Load what,
          std::function<void(const host::Snapshot&)> then);

// ?after= and ?limit=, within bounds; refuses others and answers false.
struct PageAsked {
  std::string after;
  int32_t limit = 100;
};
bool page_asked(Desk& desk, Call& call, PageAsked& page);
host::Scan scan_of(market::Kind kind, host::Scan::By by, const std::string& name,
                   const PageAsked& page);

std::string etag_of(int64_t version);
// True when the client has it already: then 304 was answered.
bool not_modified(Desk& desk, Call& call, const std::string& etag);

Error missing(std::string_view noun, const std::string& id);

}  // namespace spillway::services
