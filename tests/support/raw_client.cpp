#include "support/raw_client.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace spillway::test {

void use(SSL_CTX* context, const CertificateAndKey& identity) {
  BIO* bio = BIO_new_mem_buf(identity.certificate_pem.data(),
                             static_cast<int>(identity.certificate_pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  SSL_CTX_use_certificate(context, certificate);
  X509_free(certificate);
  bio = BIO_new_mem_buf(identity.key_pem.data(), static_cast<int>(identity.key_pem.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  SSL_CTX_use_PrivateKey(context, key);
  EVP_PKEY_free(key);
}

RawClient::RawClient(uint16_t port, const RawOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own socket BIO would raise it
  fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{20, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (options.receive_buffer > 0) {
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer, sizeof(int));
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  is_connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  if (!is_connected_ || !options.is_tls) return;
  context_ = SSL_CTX_new(TLS_client_method());
  if (options.identity != nullptr) use(context_, *options.identity);
  if (options.max_tls_version != 0) {
    SSL_CTX_set_max_proto_version(context_, options.max_tls_version);
  }
  tls_ = SSL_new(context_);
  SSL_set_fd(tls_, fd_);
  if (options.session != nullptr) SSL_set_session(tls_, options.session);
  is_connected_ = SSL_connect(tls_) == 1;
}

RawClient::~RawClient() {
  SSL_free(tls_);
  SSL_CTX_free(context_);
  if (fd_ >= 0) ::close(fd_);
}

bool RawClient::is_resumed() const { return SSL_session_reused(tls_) == 1; }

SSL_SESSION* RawClient::session() { return SSL_get1_session(tls_); }

bool RawClient::send(std::string_view bytes) {
  ERR_clear_error();
  while (!bytes.empty()) {
    const auto sent = tls_ != nullptr
                          ? SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size()))
                          : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string RawClient::read_some() {
  if (!held_.empty()) return std::exchange(held_, {});
  std::array<char, 16 * 1024> buffer;
  ERR_clear_error();
  const auto got = tls_ != nullptr ? SSL_read(tls_, buffer.data(), static_cast<int>(buffer.size()))
                                   : ::recv(fd_, buffer.data(), buffer.size(), 0);
  return got > 0 ? std::string(buffer.data(), static_cast<size_t>(got)) : std::string{};
}

std::string RawClient::read_until(std::string_view mark) {
  std::string text;
  while (true) {
    const std::string more = read_some();
    if (more.empty()) return text;
    const size_t from = text.size() < mark.size() ? 0 : text.size() - mark.size();
    text += more;
    const size_t at = text.find(mark, from);
    if (at == std::string::npos) continue;
    held_ = text.substr(at + mark.size());
    text.resize(at + mark.size());
    return text;
  }
}

std::string RawClient::read_answer() {
  std::string text = read_until("\r\n\r\n");
  constexpr std::string_view k_length = "Content-Length: ";
  const size_t at = text.find(k_length);
  if (at == std::string::npos) return text;
  const size_t whole = text.size() + std::strtoul(text.c_str() + at + k_length.size(), nullptr, 10);
  while (text.size() < whole) {
    const std::string more = read_some();
    if (more.empty()) return text;
    const size_t part = std::min(more.size(), whole - text.size());
    text += more.substr(0, part);
    held_ = more.substr(part);
  }
  return text;
}

std::string RawClient::read_all() {
  std::string text;
  for (std::string more = read_some(); !more.empty(); more = read_some()) text += more;
  return text;
}

void RawClient::close_output() { ::shutdown(fd_, SHUT_WR); }

void RawClient::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::close(std::exchange(fd_, -1));
}

}  // namespace spillway::test
