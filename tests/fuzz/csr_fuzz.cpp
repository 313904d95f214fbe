// The readers of keys, requests and certificates that strangers send. An input that is no text is
// also tried as the DER within one: so that the fuzzer need not learn base64.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"
#include "pki/base64url.h"
#include "pki/certificate.h"
#include "pki/hash.h"
#include "pki/public_key.h"
#include "pki/request.h"
#include "pki/subject_request.h"

namespace {

using namespace spillway;
using namespace spillway::pki;

std::string as_pem(std::string_view der, const std::string& label) {
  const Secret url = to_base64url(der);
  std::string text = "-----BEGIN " + label + "-----\n";
  size_t column = 0;
  const auto put = [&](char c) {
    text += c;
    if (++column % 64 == 0) text += '\n';
  };
  for (const char c : url.view()) put(c == '-' ? '+' : c == '_' ? '/' : c);
  while (column % 4 != 0) put('=');
  if (column % 64 != 0) text += '\n';
  return text + "-----END " + label + "-----\n";
}

void read_all(std::string_view text) {
  if (const auto request = read_request(text)) {
    const Status checked = check_subject_request(text, {"buyer", "unit"}, request->key);
    SPILLWAY_CHECK(checked || checked.error().code == Code::denied, "readable, and yet invalid");
    SPILLWAY_CHECK(request->fingerprint == request->key.fingerprint(), "one key, one fingerprint");
    SPILLWAY_CHECK(is_fingerprint(request->fingerprint), "fingerprint");
  } else {
    SPILLWAY_CHECK(is_printable(request.error().message()), "an error repeats the input");
  }
  if (const auto facts = read_certificate(text)) {
    SPILLWAY_CHECK(is_printable(facts->uri) && is_printable(facts->common_name), "names");
    SPILLWAY_CHECK(fingerprint_of(text) == facts->fingerprint, "fingerprint");
    SPILLWAY_CHECK(split_bundle(text)->size() == 1, "bundle of one");
  }
  if (const auto key = read_public_key(text)) {
    SPILLWAY_CHECK(read_public_key(to_pem(*key))->fingerprint() == key->fingerprint(), "one key");
  }
  (void)split_bundle(text);
  (void)Key::from_pem(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_all(bytes);
  if (bytes.starts_with('\x30')) {  // an ASN.1 sequence
    read_all(as_pem(bytes, "CERTIFICATE REQUEST"));
    read_all(as_pem(bytes, "CERTIFICATE"));
    read_all(as_pem(bytes, "PRIVATE KEY"));
    read_all(as_pem(bytes, "PUBLIC KEY"));
  }
  return 0;
}
