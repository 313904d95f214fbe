#include "pki/authority.h"

#include <algorithm>
#include <utility>

#include <openssl/pem.h>

#include "base/check.h"
#include "base/text.h"
#include "pki/certificate_draft.h"
#include "pki/openssl.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_subject_tail = " authority";
constexpr Duration k_clocks_apart = minutes(5);
constexpr Duration k_authority_life = hours(24 * 3652);  // ten years and their leap days
constexpr size_t k_longest_common_name = 64;
constexpr size_t k_most_names = 100;

Status check_now(Instant now) {
  if (now - k_clocks_apart >= k_first_instant && now + k_authority_life <= k_last_instant) {
    return {};
  }
  return fail(Code::invalid, "time", "no certificate can be dated so", "set the clock");
}

Status check_server_names(const ServerNames& names) {
  const size_t count = names.dns_names.size() + names.ip_addresses.size();
  if (count == 0 || count > k_most_names) {
    return fail(Code::invalid, "server certificate",
                count == 0 ? "it would be for no name" : "it would have more than 100 names",
                "give the names and addresses by which clients call the server");
  }
  for (const std::string& name : names.dns_names) SPILLWAY_TRY(check_server_name(name));
  return {};
}

// For people who look at it; clients go by the alternative names.
std::string server_common_name(const ServerNames& names) {
  const std::string& first =
      names.dns_names.empty() ? names.ip_addresses.front() : names.dns_names.front();
  return first.size() <= k_longest_common_name ? first : "server";
}

void extend_for(CertificateDraft& draft, const char* purpose) {
  draft.extend(NID_basic_constraints, "critical,CA:FALSE");
  draft.extend(NID_key_usage, "critical,digitalSignature");
  draft.extend(NID_ext_key_usage, purpose);
  draft.extend(NID_subject_key_identifier, "hash");
  draft.extend(NID_authority_key_identifier, "keyid:always");
}

}  // namespace

Result<std::string> federation_of_authority(const Certificate& facts) {
  std::string_view name = facts.common_name;
  if (facts.is_authority && name.ends_with(k_subject_tail)) {
    name.remove_suffix(k_subject_tail.size());
    if (check_federation(name)) return std::string(name);
  }
  return fail(Code::invalid, "authority's certificate",
              "its subject is not \"<federation> authority\", or it may not sign certificates",
              "use one that was made for a federation");
}

Authority::Authority(Key key, std::shared_ptr<X509> certificate, std::string pem, Certificate facts,
                     std::string federation)
    : key_(std::move(key)),
      certificate_(std::move(certificate)),
      pem_(std::move(pem)),
      facts_(std::move(facts)),
      federation_(std::move(federation)) {}

Result<Authority> Authority::create(std::string_view federation, Instant now) {
  SPILLWAY_TRY(check_federation(federation));
  SPILLWAY_TRY(check_now(now));
  const QuietErrors quiet;
  const Key key = Key::generate();
  CertificateDraft draft(key.handle(), std::string(federation).append(k_subject_tail),
                         now - k_clocks_apart, now + k_authority_life);
  draft.issued_by_itself();
  draft.extend(NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  draft.extend(NID_key_usage, "critical,keyCertSign,cRLSign");
  draft.extend(NID_subject_key_identifier, "hash");
  draft.extend(NID_authority_key_identifier, "keyid:always");
  const OwnedCertificate certificate = draft.sign(key.handle());
  return from_pem(certificate_to_pem(certificate.get()), key.to_pem().view());
}

Result<Authority> Authority::from_pem(std::string_view certificate_pem, std::string_view key_pem) {
  const QuietErrors quiet;
  Result<Certificate> facts = read_certificate(certificate_pem);
  if (!facts) return tl::unexpected(facts.error());
  Result<std::string> federation = federation_of_authority(*facts);
  if (!federation) return tl::unexpected(federation.error());
  Result<Key> key = Key::from_pem(key_pem);
  if (!key) return tl::unexpected(key.error());

  const OwnedBio bio = reader_of(certificate_pem);
  std::shared_ptr<X509> certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr),
                                    X509_free);
  SPILLWAY_CHECK(certificate != nullptr, "a certificate was read once, but not twice");
  if (key->fingerprint() != facts->key_fingerprint ||
      X509_verify(certificate.get(), key->handle()) != 1) {
    return fail(Code::invalid, "authority", "its key and its self-signed certificate do not match",
                "restore both from the same backup");
  }
  std::string pem = certificate_to_pem(certificate.get());
  return Authority(std::move(*key), std::move(certificate), std::move(pem), std::move(*facts),
                   std::move(*federation));
}

Result<Instant> Authority::end_of_issued(Instant now, Instant not_after) const {
  SPILLWAY_TRY(check_now(now));
  if (now >= facts_.not_after) {
    return fail(Code::conflict, "authority of " + federation_,
                "it expired at " + to_text(facts_.not_after), "make a new one");
  }
  if (not_after <= now) {
    return fail(Code::invalid, "certificate", "it would be expired from the start",
                "ask for a later end");
  }
  return std::min(not_after, facts_.not_after);
}

Result<std::string> Authority::issue_member(const PublicKey& key, std::string_view name,
                                            Instant now, Instant not_after) const {
  SPILLWAY_TRY(check_member_name(name));
  const Result<Instant> end = end_of_issued(now, not_after);
  if (!end) return tl::unexpected(end.error());
  const QuietErrors quiet;
  CertificateDraft draft(key.handle(), name, now - k_clocks_apart, *end);
  draft.issued_by(certificate_.get());
  extend_for(draft, "clientAuth");
  draft.add_uri(member_uri(federation_, name));
  return certificate_to_pem(draft.sign(key_.handle()).get());
}

Result<std::string> Authority::issue_user(const PublicKey& key, const Subject& subject, Instant now,
                                          Instant not_after) const {
  SPILLWAY_TRY(check_subject(subject));
  const Result<Instant> end = end_of_issued(now, not_after);
  if (!end) return tl::unexpected(end.error());
  const QuietErrors quiet;
  CertificateDraft draft(key.handle(), subject.common_name, now - k_clocks_apart, *end);
  draft.set_organization(subject.organization);
  draft.issued_by(certificate_.get());
  extend_for(draft, "clientAuth");
  return certificate_to_pem(draft.sign(key_.handle()).get());
}

Result<std::string> Authority::issue_server(const PublicKey& key, const ServerNames& names,
                                            Instant now, Instant not_after) const {
  SPILLWAY_TRY(check_server_names(names));
  const Result<Instant> end = end_of_issued(now, not_after);
  if (!end) return tl::unexpected(end.error());
  const QuietErrors quiet;
  CertificateDraft draft(key.handle(), server_common_name(names), now - k_clocks_apart, *end);
  draft.issued_by(certificate_.get());
  extend_for(draft, "serverAuth");
  for (const std::string& name : names.dns_names) draft.add_dns_name(name);
  for (const std::string& address : names.ip_addresses) {
    if (!draft.add_ip_address(address)) {
      return fail(Code::invalid, "server certificate", in_quotes(address) + " is no IP address",
                  "write it like 203.0.113.7 or 2001:db8::7");
    }
  }
  return certificate_to_pem(draft.sign(key_.handle()).get());
}

}  // namespace spillway::pki
