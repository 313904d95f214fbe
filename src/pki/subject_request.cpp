#include "pki/subject_request.h"

#include <algorithm>

#include <openssl/pem.h>

#include "base/check.h"
#include "base/text.h"
#include "pki/openssl.h"
#include "pki/pem.h"
#include "pki/request.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_subject_thing = "certificate request";
constexpr size_t k_longest_subject_text = 64;  // RFC 5280
// Twice what the longest subject makes: parties keep what they are sent, and PEM may have any
// number of spaces around it.
constexpr size_t k_longest_request = size_t{1} << 10;

bool is_subject_text(std::string_view text) {
  return !text.empty() && text.size() <= k_longest_subject_text &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
         });
}

tl::unexpected<Error> deny(std::string reason) {
  return fail(Code::denied, std::string(k_subject_thing), std::move(reason),
              "sign only what the contract names");
}

bool add_entry(X509_NAME* name, int nid, std::string_view text) {
  return X509_NAME_add_entry_by_NID(name, nid, V_ASN1_PRINTABLESTRING,
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()), -1, 0) == 1;
}

// Kubernetes reads with Go, which takes the bytes of both string types as they are. OpenSSL's own
// comparison of names would pass over case and spaces.
bool is_entry(const X509_NAME* name, int index, int nid, std::string_view text) {
  const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, index);
  if (OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry)) != nid) return false;
  if (X509_NAME_ENTRY_set(entry) != index) return false;  // two in one set
  const ASN1_STRING* data = X509_NAME_ENTRY_get_data(entry);
  const int type = ASN1_STRING_type(data);
  if (type != V_ASN1_PRINTABLESTRING && type != V_ASN1_UTF8STRING) return false;
  const std::string_view said(reinterpret_cast<const char*>(ASN1_STRING_get0_data(data)),
                              static_cast<size_t>(ASN1_STRING_length(data)));
  return said == text;
}

// Of one that read_request has taken.
OwnedRequest parse_again(std::string_view pem) {
  const Result<PemBlock> block = single_pem(pem, "CERTIFICATE REQUEST", k_subject_thing);
  const Result<std::string> der = decode_pem(*block, k_subject_thing);
  const auto* at = reinterpret_cast<const unsigned char*>(der->data());
  OwnedRequest request(d2i_X509_REQ(nullptr, &at, static_cast<long>(der->size())));
  SPILLWAY_CHECK(request != nullptr, "a request can be read once only");
  return request;
}

}  // namespace

Status check_subject(const Subject& subject) {
  for (const std::string* text : {&subject.organization, &subject.common_name}) {
    if (!is_subject_text(*text)) {
      return fail(Code::invalid, std::string(k_subject_thing),
                  in_quotes(*text) + " cannot be in its subject",
                  "use 1 to 64 letters, digits, - and .");
    }
  }
  return {};
}

Result<std::string> make_subject_request(const Key& key, const Subject& subject) {
  SPILLWAY_TRY(check_subject(subject));
  const QuietErrors quiet;
  const OwnedRequest request(X509_REQ_new());
  SPILLWAY_CHECK(request != nullptr, "no memory");
  X509_NAME* name = X509_REQ_get_subject_name(request.get());
  const bool signed_well = X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) == 1 &&
                           add_entry(name, NID_organizationName, subject.organization) &&
                           add_entry(name, NID_commonName, subject.common_name) &&
                           X509_REQ_set_pubkey(request.get(), key.handle()) == 1 &&
                           X509_REQ_sign(request.get(), key.handle(), digest_for(key.handle())) > 0;
  SPILLWAY_CHECK(signed_well, "a request cannot be made");
  const OwnedBio bio = memory_writer();
  SPILLWAY_CHECK(PEM_write_bio_X509_REQ(bio.get(), request.get()) == 1, "a request has no PEM");
  return std::string(written(bio));
}

Status check_subject_request(std::string_view pem, const Subject& subject, const PublicKey& key) {
  if (pem.size() > k_longest_request) {
    return deny(fmt::format("it has {} bytes, at most {}", pem.size(), k_longest_request));
  }
  const Result<Request> read = read_request(pem);
  if (!read) return tl::unexpected(read.error());
  if (read->fingerprint != key.fingerprint()) return deny("it is for another key");
  const QuietErrors quiet;
  const OwnedRequest request = parse_again(pem);
  const X509_NAME* name = X509_REQ_get_subject_name(request.get());
  constexpr int k_entries = 2;
  if (X509_NAME_entry_count(name) != k_entries) {
    return deny(fmt::format("its subject has {} entries, not one organization and one name",
                            X509_NAME_entry_count(name)));
  }
  if (!is_entry(name, 0, NID_organizationName, subject.organization)) {
    return deny(fmt::format("its organization is not {}", subject.organization));
  }
  if (!is_entry(name, 1, NID_commonName, subject.common_name)) {
    return deny(fmt::format("its common name is not {}", subject.common_name));
  }
  if (X509_REQ_get_attr_count(request.get()) != 0) return deny("it asks for extensions");
  return {};
}

}  // namespace spillway::pki
