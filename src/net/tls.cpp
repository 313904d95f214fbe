#include "net/tls.h"

#include <array>
#include <vector>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/check.h"
#include "net/ascii.h"
#include "net/tls_memory.h"

namespace spillway::net {
namespace {

// While the program starts: later OpenSSL would have memory already.
[[maybe_unused]] const bool k_has_a_shelf = put_record_buffers_on_a_shelf();

constexpr std::array<unsigned char, 3> k_http2{2, 'h', '2'};

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

std::string tls_reason() {
  const unsigned long error = ERR_peek_last_error();
  const char* text = ERR_reason_error_string(error);
  ERR_clear_error();
  return text != nullptr ? text : "unknown";
}

std::unique_ptr<BIO, decltype(&BIO_free)> reader_of(const std::string& pem) {
  return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free};
}

// A key file that is encrypted is refused: nobody is there to ask for its password.
int no_password(char*, int, int, void*) { return -1; }

std::vector<Certificate> certificates_of(const std::string& pem) {
  std::vector<Certificate> found;
  const auto reader = reader_of(pem);
  while (X509* next = PEM_read_bio_X509(reader.get(), nullptr, no_password, nullptr)) {
    found.emplace_back(next, &X509_free);
  }
  ERR_clear_error();  // the end of the text is an error too
  return found;
}

Status use_identity(SSL_CTX* context, const TlsIdentity& identity) {
  const auto chain = certificates_of(identity.certificate_chain_pem);
  if (chain.empty()) {
    return fail(Code::invalid, "TLS certificate", "there is no PEM certificate in it",
                "give the certificate first, then those of its issuers");
  }
  if (SSL_CTX_use_certificate(context, chain[0].get()) != 1) {
    return fail(Code::invalid, "TLS certificate", tls_reason());
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) {
      return fail(Code::invalid, "TLS certificate chain", tls_reason());
    }
  }
  const auto reader = reader_of(identity.key_pem);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PrivateKey(reader.get(), nullptr, no_password, nullptr), &EVP_PKEY_free);
  if (key == nullptr) {
    ERR_clear_error();
    return fail(Code::invalid, "TLS key", "it is no private key in PEM, or has a password",
                "give the key without a password");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return fail(Code::invalid, "TLS key", tls_reason(), "give the key that the certificate is of");
  }
  return {};
}

Status trust_authorities(SSL_CTX* context, const std::string& pem) {
  const auto authorities = certificates_of(pem);
  if (authorities.empty()) {
    return fail(Code::invalid, "TLS authorities", "there is no PEM certificate among them",
                "give the certificate of the federation's authority");
  }
  for (const Certificate& authority : authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) {
      return fail(Code::invalid, "TLS authorities", tls_reason());
    }
  }
  // An authority that is itself issued by another is trusted as it is.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

TlsContext fresh_context(const SSL_METHOD* method) {
  TlsContext context(SSL_CTX_new(method), &SSL_CTX_free);
  SPILLWAY_CHECK(context != nullptr, "no TLS context");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // A record costs one call on the socket instead of two.
  SSL_CTX_set_read_ahead(context.get(), 1);
  return context;
}

struct ClientData {
  std::string pinned;
  std::function<void(TlsSession)> on_session;
};

int client_data_index() {
  static const int k_index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* data, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<ClientData*>(data);
      });
  return k_index;
}

const ClientData& data_of(const SSL_CTX* context) {
  return *static_cast<const ClientData*>(SSL_CTX_get_ex_data(context, client_data_index()));
}

std::string sha256_hex(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  std::string hex;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

// Trusts the pinned certificate if the server has sent it, and nothing else.
int verify_pinned(X509_STORE_CTX* verification, void* argument) {
  const auto& pinned = *static_cast<const std::string*>(argument);
  const STACK_OF(X509)* sent = X509_STORE_CTX_get0_untrusted(verification);
  STACK_OF(X509)* trusted = sk_X509_new_null();
  for (int i = 0; i < sk_X509_num(sent); ++i) {
    X509* certificate = sk_X509_value(sent, i);
    if (equal_ignoring_case(sha256_hex(certificate), pinned)) sk_X509_push(trusted, certificate);
  }
  int verdict = 0;
  if (sk_X509_num(trusted) == 0) {
    X509_STORE_CTX_set_error(verification, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
  } else {
    X509_STORE_CTX_set0_trusted_stack(verification, trusted);
    X509_STORE_CTX_set_flags(verification, X509_V_FLAG_PARTIAL_CHAIN);
    verdict = X509_verify_cert(verification) == 1 ? 1 : 0;
    X509_STORE_CTX_set0_trusted_stack(verification, nullptr);
  }
  sk_X509_free(trusted);
  return verdict;
}

int keep_session(SSL* tls, SSL_SESSION* session) {
  const ClientData& data = data_of(SSL_get_SSL_CTX(tls));
  if (data.on_session == nullptr) return 0;
  data.on_session(TlsSession(session, &SSL_SESSION_free));
  return 1;
}

}  // namespace

Result<TlsContext> server_context(const TlsIdentity& identity, const std::string& authorities_pem) {
  TlsContext made = fresh_context(TLS_server_method());
  SSL_CTX* context = made.get();
  SPILLWAY_TRY(use_identity(context, identity));
  SPILLWAY_TRY(trust_authorities(context, authorities_pem));
  for (const Certificate& authority : certificates_of(authorities_pem)) {
    SSL_CTX_add_client_CA(context, authority.get());  // lets a browser choose among many
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_NO_CHECK_TIME);
  // The ticket holds the whole session, with the client's certificate: nothing is cached here.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 1);
  constexpr std::string_view k_name = "spillway";
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(k_name.data()),
                                 static_cast<unsigned int>(k_name.size()));
  return made;
}

Result<TlsContext> anonymous_server_context(const TlsIdentity& identity) {
  TlsContext made = fresh_context(TLS_server_method());
  SPILLWAY_TRY(use_identity(made.get(), identity));
  SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
  return made;
}

void speak_http2(ssl_ctx_st* server) {
  SSL_CTX_set_alpn_select_cb(
      server,
      [](SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
         unsigned int offered_size, void*) {
        unsigned char* found = nullptr;
        const int verdict =
            SSL_select_next_proto(&found, size, k_http2.data(),
                                  static_cast<unsigned int>(k_http2.size()), offered, offered_size);
        *chosen = found;
        return verdict == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
      },
      nullptr);
}

void ask_for_http2(ssl_ctx_st* client) {
  SSL_CTX_set_alpn_protos(client, k_http2.data(), static_cast<unsigned int>(k_http2.size()));
}

Result<TlsContext> client_context(ClientTrust trust) {
  TlsContext made = fresh_context(TLS_client_method());
  SSL_CTX* context = made.get();
  if (trust.identity != nullptr) SPILLWAY_TRY(use_identity(context, *trust.identity));
  auto* data = new ClientData{std::move(trust.pinned_authority), std::move(trust.on_session)};
  SSL_CTX_set_ex_data(context, client_data_index(), data);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (data->pinned.empty()) {
    SPILLWAY_TRY(trust_authorities(context, trust.authorities_pem));
  } else {
    SSL_CTX_set_cert_verify_callback(context, verify_pinned, &data->pinned);
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
  SSL_CTX_sess_set_new_cb(context, keep_session);
  return made;
}

void offer_session(ssl_st* tls, const TlsSession& session) { SSL_set_session(tls, session.get()); }

bool is_resumed(const ssl_st* tls) { return SSL_session_reused(tls) == 1; }

}  // namespace spillway::net
