#include "net/tls_memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include <openssl/crypto.h>
#include <sys/mman.h>

#include "base/sanitized.h"

namespace spillway::net {
namespace {

// Sanitizers must see every buffer by itself.
constexpr bool k_shelved = !k_is_sanitized;

constexpr size_t k_slot_bytes = 24 * 1024;   // a handshake's buffer is 21.3 KiB
constexpr size_t k_least_bytes = 12 * 1024;  // smaller ones are malloc's business
constexpr size_t k_slots = 32 * 1024;        // addresses only, until they are used
constexpr size_t k_kept = 64;                // free ones that keep their memory

class Shelf {
 public:
  bool open() {
    void* at = ::mmap(nullptr, k_slots * k_slot_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    begin_ = static_cast<char*>(at);
    return true;
  }

  bool owns(const void* at) const {
    const auto* byte = static_cast<const char*>(at);
    return byte >= begin_ && byte < begin_ + k_slots * k_slot_bytes;
  }

  // Null: all are taken.
  void* take() {
    const std::lock_guard lock(mutex_);
    if (!warm_.empty()) return pop(warm_);
    if (!cold_.empty()) return pop(cold_);
    return used_ < k_slots ? begin_ + k_slot_bytes * used_++ : nullptr;
  }

  void give_back(void* at) {
    const std::lock_guard lock(mutex_);
    if (warm_.size() < k_kept) {
      warm_.push_back(at);
      return;
    }
    ::madvise(at, k_slot_bytes, MADV_DONTNEED);
    cold_.push_back(at);
  }

 private:
  static void* pop(std::vector<void*>& from) {
    void* at = from.back();
    from.pop_back();
    return at;
  }

  std::mutex mutex_;
  char* begin_ = nullptr;
  size_t used_ = 0;  // slots that were ever handed out
  std::vector<void*> warm_;
  std::vector<void*> cold_;
};

// Never destroyed: OpenSSL gives memory back after main.
Shelf& shelf() {
  static Shelf* const k_shelf = new Shelf;
  return *k_shelf;
}

void* allocate(size_t bytes, const char*, int) {
  if (bytes >= k_least_bytes && bytes <= k_slot_bytes) {
    if (void* at = shelf().take()) return at;
  }
  return bytes == 0 ? nullptr : std::malloc(bytes);
}

void release(void* at, const char*, int) {
  if (at == nullptr) return;
  if (shelf().owns(at)) {
    shelf().give_back(at);
  } else {
    std::free(at);
  }
}

void* resize(void* at, size_t bytes, const char* file, int line) {
  if (at == nullptr) return allocate(bytes, file, line);
  if (bytes == 0) {
    release(at, file, line);
    return nullptr;
  }
  if (!shelf().owns(at)) return std::realloc(at, bytes);
  if (bytes <= k_slot_bytes) return at;
  void* moved = std::malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, at, k_slot_bytes);
  release(at, file, line);
  return moved;
}

}  // namespace

bool put_record_buffers_on_a_shelf() {
  if (!k_shelved || !shelf().open()) return false;
  return CRYPTO_set_mem_functions(allocate, resize, release) == 1;
}

}  // namespace spillway::net
