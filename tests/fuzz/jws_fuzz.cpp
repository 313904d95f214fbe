// Signed documents that strangers send: what is read is written as the same text, and nobody has
// signed who did not. An input is also tried as the protected header, so that the fuzzer need not
// learn base64.
#include "pki/jws.h"

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"
#include "pki/base64url.h"
#include "pki/ed25519.h"

namespace {

using namespace spillway;
using namespace spillway::pki;

// A key whose private half is lost: nothing is signed by it.
const std::vector<PublicKey>& nobody() {
  static const std::vector<PublicKey> k_keys{Key::generate_member().public_key()};
  return k_keys;
}

void read_document(std::string_view text) {
  const Result<Jws> jws = Jws::parse(text);
  if (!jws) {
    SPILLWAY_CHECK(jws.error().code == Code::invalid, "bad input is the sender's fault");
    SPILLWAY_CHECK(is_printable(jws.error().message()), "an error repeats the input");
    return;
  }
  SPILLWAY_CHECK(jws->to_text() == text, "two texts for one document");
  SPILLWAY_CHECK(!jws->verify("spillway-contract", nobody()), "a signature from nowhere");
  SPILLWAY_CHECK(!jws->unverified_signers().empty(), "signed by nobody");
}

std::string under_header(std::string_view header) {
  return R"({"payload":"e30","signatures":[{"protected":")" +
         std::string(to_base64url(header).view()) + R"(","signature":")" + std::string(86, 'A') +
         R"("}]})";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_document(text);
  read_document(under_header(text));
  if (const auto key = read_signing_key(text)) {
    SPILLWAY_CHECK(*signing_key_text(*key) == text, "two texts for one key");
    SPILLWAY_CHECK(is_key_id(*key_id(*key)), "key id");
  }
  return 0;
}
