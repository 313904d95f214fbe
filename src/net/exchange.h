// One request being answered, as the handler sees it. All calls are made on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "net/message.h"

namespace spillway::net {

// What a client certificate says. Its chain leads to one of our authorities and the other side has
// its key; whether it is in date, revoked or allowed anything is for the handler to judge.
struct PeerCertificate {
  std::string uri;     // the first SAN URI, or empty
  std::string key;     // SHA-256 of the public key (SubjectPublicKeyInfo), 64 hex digits
  std::string serial;  // hex
  // Of the authority that signed it itself, as `key` is; empty: one that another has vouched for.
  std::string authority;
  Instant not_before;
  Instant not_after;
};

struct Peer {
  std::string address;                                 // "203.0.113.7:40312"
  std::shared_ptr<const PeerCertificate> certificate;  // null: none was shown
};

// A body that is sent as it comes about. Lives as long as somebody holds it or the connection does.
class Stream {
 public:
  virtual ~Stream() = default;
  // Queues; false once the connection is gone.
  virtual bool send(std::string_view bytes) = 0;
  // Queued and not yet taken by the network: who lets it grow is a slow reader.
  virtual size_t unsent() const = 0;
  virtual void close() = 0;  // ends the body and the connection
  // Called once when the connection is gone, whoever ended it; also at once if it is gone already.
  virtual void on_gone(std::function<void()> then) = 0;
};

// Answer once: respond() or stream(). When dropped unanswered, the client gets a 500.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void respond(Response response) = 0;
  // Sends the head (its body must be empty) and leaves the body open, chunked. Null: the connection
  // is gone.
  virtual std::shared_ptr<Stream> stream(Response head) = 0;
};

class Handler {
 public:
  virtual ~Handler() = default;
  virtual void handle(Request request, const Peer& peer, std::shared_ptr<Exchange> exchange) = 0;
  // Answers what never became a request (malformed, too large, too slow): the body of a problem.
  virtual Response refuse(int status, std::string_view reason) = 0;
};

}  // namespace spillway::net
