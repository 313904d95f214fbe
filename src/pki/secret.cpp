#include "pki/secret.h"

#include <algorithm>
#include <utility>

#include <openssl/crypto.h>

namespace spillway::pki {

Secret::Secret(std::string_view bytes)
    : bytes_(std::make_unique<char[]>(bytes.size())), size_(bytes.size()) {
  std::copy(bytes.begin(), bytes.end(), bytes_.get());
}

Secret::Secret(Secret&& other) noexcept
    : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this == &other) return *this;
  wipe();
  bytes_ = std::move(other.bytes_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

Secret::~Secret() { wipe(); }

Secret Secret::of_size(size_t size) {
  Secret secret;
  secret.bytes_ = std::make_unique<char[]>(size);
  secret.size_ = size;
  return secret;
}

void Secret::shorten(size_t size) {
  if (size >= size_) return;
  OPENSSL_cleanse(bytes_.get() + size, size_ - size);
  size_ = size;
}

bool Secret::equals(std::string_view other) const {
  return other.size() == size_ && CRYPTO_memcmp(bytes_.get(), other.data(), size_) == 0;
}

void Secret::wipe() noexcept {
  if (bytes_) OPENSSL_cleanse(bytes_.get(), size_);
}

}  // namespace spillway::pki
