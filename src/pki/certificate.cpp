#include "pki/certificate.h"

#include <array>
#include <ctime>
#include <optional>

#include <arpa/inet.h>

#include "base/text.h"
#include "pki/hash.h"
#include "pki/openssl.h"
#include "pki/pem.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_thing = "certificate";

tl::unexpected<Error> refuse(const char* reason) {
  return fail(Code::invalid, std::string(k_thing), reason, "give an X.509 certificate in PEM");
}

Result<OwnedCertificate> parse(std::string_view pem) {
  if (pem.size() > k_max_certificate) return refuse("it is larger than 64 KiB");
  const Result<PemBlock> block = single_pem(pem, "CERTIFICATE", k_thing);
  if (!block) return tl::unexpected(block.error());
  const Result<std::string> der = decode_pem(*block, k_thing);
  if (!der) return tl::unexpected(der.error());
  const auto* at = reinterpret_cast<const unsigned char*>(der->data());
  const unsigned char* const end = at + der->size();
  OwnedCertificate certificate(d2i_X509(nullptr, &at, static_cast<long>(der->size())));
  if (!certificate || at != end) return refuse("it is not X.509");
  return certificate;
}

std::optional<Instant> read_time(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  const Instant instant{static_cast<int64_t>(timegm(&parts)) * 1000};
  if (instant < k_first_instant || instant > k_last_instant) return std::nullopt;
  return instant;
}

std::string read_serial(X509* certificate) {
  const OwnedNumber number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr));
  if (!number) return {};
  std::string bytes(static_cast<size_t>(BN_num_bytes(number.get())), '\0');
  BN_bn2bin(number.get(), reinterpret_cast<unsigned char*>(bytes.data()));
  return to_hex(bytes);
}

std::string_view text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string read_common_name(X509* certificate) {
  X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return {};
  unsigned char* bytes = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (size < 0) return {};
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return is_printable(text) ? text : std::string();
}

std::string ip_text(std::string_view bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr) return {};
  return text.data();
}

// False for names with control characters in them: "good.example\0.bad.example" is read as two
// different names by different readers.
bool read_names(X509* certificate, Certificate& facts) {
  int critical = 0;
  const OwnedNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, &critical, nullptr)));
  if (!names) return critical == -1;  // -1: there are none; else they are malformed or twice there
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int type = 0;
    const auto* value = static_cast<const ASN1_STRING*>(
        GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type));
    if (type == GEN_URI || type == GEN_DNS) {
      const std::string_view text = text_of(value);
      if (!is_printable(text)) return false;
      if (type == GEN_DNS) facts.dns_names.emplace_back(text);
      if (type == GEN_URI && facts.uri.empty()) facts.uri = text;
    } else if (type == GEN_IPADD) {
      std::string address = ip_text(text_of(value));
      if (address.empty()) return false;
      facts.ip_addresses.push_back(std::move(address));
    }
  }
  return true;
}

Result<Certificate> read(X509* certificate) {
  const std::optional<Instant> not_before = read_time(X509_get0_notBefore(certificate));
  const std::optional<Instant> not_after = read_time(X509_get0_notAfter(certificate));
  if (!not_before || !not_after) return refuse("its validity is no time from 1970 to 9999");
  Certificate facts;
  if (!read_names(certificate, facts)) return refuse("its alternative names are malformed");
  facts.key_fingerprint = sha256_hex(der_of<i2d_X509_PUBKEY>(X509_get_X509_PUBKEY(certificate)));
  facts.fingerprint = sha256_hex(der_of<i2d_X509>(certificate));
  facts.serial = read_serial(certificate);
  facts.not_before = *not_before;
  facts.not_after = *not_after;
  facts.common_name = read_common_name(certificate);
  facts.is_authority = X509_check_ca(certificate) == 1;
  return facts;
}

}  // namespace

Result<Certificate> read_certificate(std::string_view pem) {
  const QuietErrors quiet;
  const Result<OwnedCertificate> certificate = parse(pem);
  if (!certificate) return tl::unexpected(certificate.error());
  return read(certificate->get());
}

Result<std::string> fingerprint_of(std::string_view pem) {
  const QuietErrors quiet;
  const Result<OwnedCertificate> certificate = parse(pem);
  if (!certificate) return tl::unexpected(certificate.error());
  return sha256_hex(der_of<i2d_X509>(certificate->get()));
}

Result<std::vector<std::string>> split_bundle(std::string_view pem) {
  const auto refuse_bundle = [](const char* reason) {
    return fail(Code::invalid, "certificate bundle", reason, "give certificates in PEM");
  };
  if (pem.size() > k_max_bundle) return refuse_bundle("it is larger than 1 MiB");
  const Result<std::vector<PemBlock>> blocks = split_pem(pem, "certificate bundle");
  if (!blocks) return tl::unexpected(blocks.error());
  if (blocks->empty()) return refuse_bundle("it is empty");
  std::vector<std::string> certificates;
  for (const PemBlock& block : *blocks) {
    const QuietErrors quiet;
    const Result<OwnedCertificate> certificate = parse(block.text);
    if (!certificate) return tl::unexpected(certificate.error());
    certificates.push_back(certificate_to_pem(certificate->get()));
  }
  return certificates;
}

Status check_issued_by(std::string_view certificate_pem, std::string_view bundle_pem) {
  const QuietErrors quiet;
  const Result<OwnedCertificate> certificate = parse(certificate_pem);
  if (!certificate) return tl::unexpected(certificate.error());
  const Result<std::vector<std::string>> bundle = split_bundle(bundle_pem);
  if (!bundle) return tl::unexpected(bundle.error());
  for (const std::string& pem : *bundle) {
    const Result<OwnedCertificate> authority = parse(pem);
    if (!authority || X509_check_ca(authority->get()) != 1) continue;
    if (X509_check_issued(authority->get(), certificate->get()) != X509_V_OK) continue;
    if (X509_verify(certificate->get(), X509_get0_pubkey(authority->get())) == 1) return {};
  }
  return fail(Code::denied, std::string(k_thing), "none of the trusted authorities has signed it",
              "fetch the bundle again, or ask the operator which authority is right");
}

}  // namespace spillway::pki
