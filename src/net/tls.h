// TLS contexts: what a server or client needs to know before it speaks TLS 1.3. A context is
// shared by its connections; replacing it changes nothing for those that are open.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/exchange.h"

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;

namespace spillway::net {

struct TlsIdentity {
  std::string certificate_chain_pem;  // the leaf first; with the authority, so that joiners see it
  std::string key_pem;
};

using TlsContext = std::shared_ptr<ssl_ctx_st>;
using TlsSession = std::shared_ptr<ssl_session_st>;

// Client certificates are requested, not required. One that is shown must lead to one of the
// authorities and be meant for clients, but may be out of date: see PeerCertificate. Sessions are
// resumed by tickets that only this context can read, so new authorities end old sessions.
Result<TlsContext> server_context(const TlsIdentity& identity, const std::string& authorities_pem);

// For clients that have no certificate: none is asked for.
Result<TlsContext> anonymous_server_context(const TlsIdentity& identity);

// For HTTP/2 the two sides agree on it by name (ALPN): a server insists, a client asks.
void speak_http2(ssl_ctx_st* server);
void ask_for_http2(ssl_ctx_st* client);

struct ClientTrust {
  std::string authorities_pem;
  std::string pinned_authority;  // hex SHA-256 of a certificate that the server must send; instead
  const TlsIdentity* identity = nullptr;       // may be null
  std::function<void(TlsSession)> on_session;  // a session to resume, once for each
};
Result<TlsContext> client_context(ClientTrust trust);

// What the other side has shown in this handshake or in the one that is resumed; null if nothing.
std::shared_ptr<const PeerCertificate> peer_certificate(ssl_st* tls);

void offer_session(ssl_st* tls, const TlsSession& session);
bool is_resumed(const ssl_st* tls);

}  // namespace spillway::net
