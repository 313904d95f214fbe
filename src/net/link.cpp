#include "net/link.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.h"

namespace spillway::net {

struct LinkBio {
  static Link& link_of(BIO* bio) { return *static_cast<Link*>(BIO_get_data(bio)); }

  static int write(BIO* bio, const char* bytes, int size) {
    Link& link = link_of(bio);
    BIO_clear_retry_flags(bio);
    const int flags = link.more_follows_ ? MSG_NOSIGNAL | MSG_MORE : MSG_NOSIGNAL;
    const ssize_t sent = ::send(link.fd_, bytes, static_cast<size_t>(size), flags);
    if (sent >= 0) return static_cast<int>(sent);
    link.error_ = errno;
    if (link.error_ == EAGAIN || link.error_ == EINTR) BIO_set_retry_write(bio);
    return -1;
  }

  static int read(BIO* bio, char* into, int size) {
    Link& link = link_of(bio);
    BIO_clear_retry_flags(bio);
    const ssize_t got = ::recv(link.fd_, into, static_cast<size_t>(size), 0);
    if (got > 0) return static_cast<int>(got);
    if (got == 0) {
      link.ended_ = true;
      return 0;
    }
    link.error_ = errno;
    if (link.error_ == EAGAIN || link.error_ == EINTR) BIO_set_retry_read(bio);
    return -1;
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* method() {
    static const BIO_METHOD* const k_made = [] {
      BIO_METHOD* fresh = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "link");
      SPILLWAY_CHECK(fresh != nullptr, "no BIO method");
      BIO_meth_set_write(fresh, write);
      BIO_meth_set_read(fresh, read);
      BIO_meth_set_ctrl(fresh, control);
      return fresh;
    }();
    return k_made;
  }
};

namespace {

// Alerts by which the other side says that it will not have us.
bool is_refusal(int reason) {
  switch (reason) {
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_VERSION_NUMBER:
      return true;
    default:
      return false;
  }
}

bool is_ip_address(const std::string& name) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, name.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

}  // namespace

Link::~Link() {
  // Else OpenSSL would forbid to resume the session, as if a broken connection were its fault.
  if (tls_ != nullptr) SSL_set_shutdown(tls_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(tls_);
  if (fd_ >= 0) ::close(fd_);
}

bool Link::start_tls(ssl_ctx_st* context) {
  tls_ = SSL_new(context);
  BIO* bio = BIO_new(LinkBio::method());
  if (tls_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    trouble_.text = "out of memory";
    return false;
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls_, bio, bio);
  return true;
}

bool Link::start_tls_server(ssl_ctx_st* context) {
  if (!start_tls(context)) return false;
  SSL_set_accept_state(tls_);
  return true;
}

bool Link::start_tls_client(ssl_ctx_st* context, const std::string& server_name) {
  if (!start_tls(context)) return false;
  SSL_set_connect_state(tls_);
  X509_VERIFY_PARAM* param = SSL_get0_param(tls_);
  if (is_ip_address(server_name)) {
    return X509_VERIFY_PARAM_set1_ip_asc(param, server_name.c_str()) == 1;
  }
  X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(param, server_name.c_str(), server_name.size()) == 1 &&
         SSL_set_tlsext_host_name(tls_, server_name.c_str()) == 1;
}

Io Link::handshake() {
  if (tls_ == nullptr) return Io::done;
  ERR_clear_error();
  error_ = 0;
  const int result = SSL_do_handshake(tls_);
  return result == 1 ? Io::done : judge(result);
}

Io Link::read(char* into, size_t size, size_t& got) {
  got = 0;
  if (tls_ != nullptr) {
    ERR_clear_error();
    error_ = 0;
    const int result = SSL_read_ex(tls_, into, size, &got);
    return result == 1 ? Io::done : judge(result);
  }
  const ssize_t result = ::recv(fd_, into, size, 0);
  if (result > 0) {
    got = static_cast<size_t>(result);
    return Io::done;
  }
  if (result == 0) return Io::ended;
  if (errno == EAGAIN || errno == EINTR) return Io::needs_readable;
  return fail_by_errno(errno);
}

Io Link::write(std::string_view bytes, size_t& taken) {
  taken = 0;
  if (tls_ != nullptr) {
    ERR_clear_error();
    error_ = 0;
    // It takes one record at a time: packets need not end where records do.
    more_follows_ = bytes.size() > SSL3_RT_MAX_PLAIN_LENGTH;
    const int result = SSL_write_ex(tls_, bytes.data(), bytes.size(), &taken);
    more_follows_ = false;
    return result == 1 ? Io::done : judge(result);
  }
  const ssize_t result = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (result >= 0) {
    taken = static_cast<size_t>(result);
    return Io::done;
  }
  if (errno == EAGAIN || errno == EINTR) return Io::needs_writable;
  return fail_by_errno(errno);
}

bool Link::has_pending() const { return tls_ != nullptr && SSL_has_pending(tls_) == 1; }

void Link::end_output() {
  if (tls_ != nullptr && SSL_is_init_finished(tls_) == 1) {
    ERR_clear_error();
    SSL_shutdown(tls_);  // once: what the other side answers does not matter
  }
  ::shutdown(fd_, SHUT_WR);
}

Io Link::fail_by_errno(int error) {
  trouble_.text = std::generic_category().message(error);
  return Io::failed;
}

Io Link::judge(int result) {
  switch (SSL_get_error(tls_, result)) {
    case SSL_ERROR_WANT_READ:
      return Io::needs_readable;
    case SSL_ERROR_WANT_WRITE:
      return Io::needs_writable;
    case SSL_ERROR_ZERO_RETURN:
      return Io::ended;
    case SSL_ERROR_SYSCALL:
      if (ended_ || error_ == 0) return Io::ended;
      return fail_by_errno(error_);
    default:
      break;
  }
  const unsigned long error = ERR_peek_last_error();  // those before it are of lower layers
  const int reason = ERR_GET_REASON(error);
  if (reason == SSL_R_UNEXPECTED_EOF_WHILE_READING) return Io::ended;
  trouble_.is_plaintext = reason == SSL_R_HTTP_REQUEST;
  trouble_.is_refusal = is_refusal(reason);
  const long verdict = SSL_get_verify_result(tls_);
  const char* text = ERR_reason_error_string(error);
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && verdict != X509_V_OK) {
    text = X509_verify_cert_error_string(verdict);
    trouble_.verdict = verdict;
  }
  trouble_.text = text != nullptr ? text : "TLS failed";
  ERR_clear_error();
  return Io::failed;
}

}  // namespace spillway::net
