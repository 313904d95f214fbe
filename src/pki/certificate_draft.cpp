#include "pki/certificate_draft.h"

#include <ctime>
#include <utility>

#include "base/check.h"

namespace spillway::pki {
namespace {

using OwnedExtension = Owned<X509_EXTENSION, X509_EXTENSION_free>;
using OwnedName = Owned<GENERAL_NAME, GENERAL_NAME_free>;
using OwnedText = Owned<ASN1_STRING, ASN1_STRING_free>;

constexpr int k_serial_bits = 128;

void set_time(ASN1_TIME* field, Instant time) {
  const auto when = static_cast<time_t>(time.ms / 1000);
  SPILLWAY_CHECK(ASN1_TIME_set(field, when) != nullptr, "a time cannot be written");
}

}  // namespace

CertificateDraft::CertificateDraft(EVP_PKEY* key, std::string_view common_name, Instant not_before,
                                   Instant not_after)
    : draft_(X509_new()), names_(GENERAL_NAMES_new()) {
  SPILLWAY_CHECK(draft_ && names_, "no memory");
  X509* draft = draft_.get();
  const OwnedNumber serial(BN_new());
  SPILLWAY_CHECK(serial && BN_rand(serial.get(), k_serial_bits, BN_RAND_TOP_ANY, 0) == 1,
                 "the system has no randomness");
  const bool done =
      X509_set_version(draft, X509_VERSION_3) == 1 &&
      BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(draft)) != nullptr &&
      X509_set_pubkey(draft, key) == 1 &&
      X509_NAME_add_entry_by_NID(X509_get_subject_name(draft), NID_commonName, MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(common_name.size()), -1, 0) == 1;
  SPILLWAY_CHECK(done, "a certificate cannot be drafted");
  set_time(X509_getm_notBefore(draft), not_before);
  set_time(X509_getm_notAfter(draft), not_after);
}

void CertificateDraft::set_organization(std::string_view name) {
  const int done = X509_NAME_add_entry_by_NID(
      X509_get_subject_name(draft_.get()), NID_organizationName, MBSTRING_UTF8,
      reinterpret_cast<const unsigned char*>(name.data()), static_cast<int>(name.size()), 0, 0);
  SPILLWAY_CHECK(done == 1, "an organization cannot be named");
}

void CertificateDraft::issued_by(X509* issuer) {
  issuer_ = issuer;
  SPILLWAY_CHECK(X509_set_issuer_name(draft_.get(), X509_get_subject_name(issuer)) == 1,
                 "an issuer cannot be named");
}

void CertificateDraft::extend(int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer_, draft_.get(), nullptr, nullptr, 0);
  X509V3_set_ctx_nodb(&context);
  const OwnedExtension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  SPILLWAY_CHECK(extension && X509_add_ext(draft_.get(), extension.get(), -1) == 1, value);
}

void CertificateDraft::add_name(int type, std::string_view text) {
  OwnedText value(ASN1_STRING_type_new(V_ASN1_IA5STRING));
  OwnedName name(GENERAL_NAME_new());
  SPILLWAY_CHECK(value && name, "no memory");
  SPILLWAY_CHECK(ASN1_STRING_set(value.get(), text.data(), static_cast<int>(text.size())) == 1,
                 "no memory");
  GENERAL_NAME_set0_value(name.get(), type, value.release());
  SPILLWAY_CHECK(sk_GENERAL_NAME_push(names_.get(), name.get()) > 0, "no memory");
  (void)name.release();  // the names own it now
}

void CertificateDraft::add_uri(std::string_view uri) { add_name(GEN_URI, uri); }

void CertificateDraft::add_dns_name(std::string_view name) { add_name(GEN_DNS, name); }

bool CertificateDraft::add_ip_address(const std::string& address) {
  const QuietErrors quiet;
  OwnedText value(a2i_IPADDRESS(address.c_str()));
  if (!value) return false;
  OwnedName name(GENERAL_NAME_new());
  SPILLWAY_CHECK(name != nullptr, "no memory");
  GENERAL_NAME_set0_value(name.get(), GEN_IPADD, value.release());
  SPILLWAY_CHECK(sk_GENERAL_NAME_push(names_.get(), name.get()) > 0, "no memory");
  (void)name.release();
  return true;
}

OwnedCertificate CertificateDraft::sign(EVP_PKEY* signer) {
  if (sk_GENERAL_NAME_num(names_.get()) > 0) {
    const int added =
        X509_add1_ext_i2d(draft_.get(), NID_subject_alt_name, names_.get(), 0, X509V3_ADD_DEFAULT);
    SPILLWAY_CHECK(added == 1, "names cannot be added");
  }
  SPILLWAY_CHECK(X509_sign(draft_.get(), signer, digest_for(signer)) > 0, "a signature failed");
  return std::move(draft_);
}

}  // namespace spillway::pki
