#include "services/agent/credentials.h"

#include <unistd.h>

#include "model/fields.h"
#include "model/validation.h"
#include "pki/certificate.h"
#include "pki/private_file.h"

namespace spillway::agent {

struct MemberFile {
  std::string broker;
  std::string federation;
  std::string name;
  model::Roles roles;
};

template <class F>
void fields(F& f, MemberFile& member) {
  f.required("broker", member.broker);
  f.required("federation", member.federation);
  f.required("name", member.name);
  f.required("roles", member.roles);
}

Status validate(const MemberFile& member) {
  SPILLWAY_TRY(model::at("name", check_cluster_id(member.name)));
  return model::at("roles", validate(member.roles));
}

namespace {

constexpr const char* k_key = "/key.pem";
constexpr const char* k_certificate = "/certificate.pem";
constexpr const char* k_authorities = "/authorities.pem";
constexpr const char* k_member = "/member.json";

Result<std::string> read_part(const std::string& folder, const char* name,
                              pki::Readers readers = pki::Readers::anyone) {
  const auto bytes = pki::read_private(folder + name, readers);
  if (bytes) return std::string(bytes->view());
  Error error = bytes.error();
  if (error.code == Code::not_found) {
    error.reason = "there is no identity here, or only a part of one";
    error.next = "run spillway join, or name the right folder with --dir";
  }
  return tl::unexpected(std::move(error));
}

}  // namespace

bool has_joined(const std::string& folder) {
  return ::access((folder + k_member).c_str(), F_OK) == 0;
}

Result<Credentials> load_credentials(const std::string& folder) {
  const auto text = read_part(folder, k_member);
  if (!text) return tl::unexpected(text.error());
  const auto member = model::read_json<MemberFile>(*text, folder + k_member);
  if (!member) return tl::unexpected(member.error());
  const auto authorities = read_part(folder, k_authorities);
  if (!authorities) return tl::unexpected(authorities.error());
  const auto certificate = read_part(folder, k_certificate);
  if (!certificate) return tl::unexpected(certificate.error());
  const auto key = read_part(folder, k_key, pki::Readers::owner_only);
  if (!key) return tl::unexpected(key.error());
  const auto facts = pki::read_certificate(*certificate);
  if (!facts) return tl::unexpected(facts.error());
  return Credentials{member->broker, member->federation,   member->name,      member->roles,
                     *authorities,   {*certificate, *key}, facts->not_before, facts->not_after};
}

Result<pki::Key> keep_key(const std::string& folder) {
  const std::string path = folder + k_key;
  const auto known = pki::read_private(path);
  if (known) return pki::Key::from_pem(known->view());
  if (known.error().code != Code::not_found) return tl::unexpected(known.error());
  const pki::Key key = pki::Key::generate_member();
  const pki::Secret pem = key.to_pem();
  SPILLWAY_TRY(pki::write_private(path, pem.view(), pki::Existing::refuse));
  return key;
}

Status replace_key(const std::string& folder, const pki::Key& key) {
  const pki::Secret pem = key.to_pem();
  return pki::write_private(folder + k_key, pem.view());
}

Status check_answer(const pki::Key& key, const wire::CertificateAnswer& told) {
  const auto certificate = pki::read_certificate(told.certificate);
  if (!certificate) return tl::unexpected(certificate.error());
  if (certificate->key_fingerprint != key.fingerprint()) {
    return fail(Code::denied, "broker", "it answered with a certificate for another key",
                "ask the operator whether this is the right broker");
  }
  return pki::check_issued_by(told.certificate, told.authorities);
}

Status save_credentials(const std::string& folder, const std::string& broker,
                        const wire::CertificateAnswer& told) {
  const MemberFile member{broker, told.federation, told.name, told.roles};
  SPILLWAY_TRY(validate(member));
  SPILLWAY_TRY(pki::write_private(folder + k_authorities, told.authorities));
  SPILLWAY_TRY(pki::write_private(folder + k_certificate, told.certificate));
  return pki::write_private(folder + k_member, model::write_json(member));
}

}  // namespace spillway::agent
