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

std::string path_of(const std::string& folder, const char* name) { return folder + "/" + name; }

Error nothing_in(std::string thing) {
  return {Code::not_found, std::move(thing), "there is no identity here, or only a part of one",
          "run spillway join, or name the right folder with --dir"};
}

Result<std::string> read_part(const std::string& folder, const char* name,
                              pki::Readers readers = pki::Readers::anyone) {
  const auto bytes = pki::read_private(path_of(folder, name), readers);
  if (bytes) return std::string(bytes->view());
  if (bytes.error().code != Code::not_found) return tl::unexpected(bytes.error());
  return tl::unexpected(nothing_in(bytes.error().thing));
}

Result<std::string> part_of(const IdentityFiles& files, const std::string& source,
                            const std::string& name) {
  const auto found = files.find(name);
  if (found != files.end()) return found->second;
  return tl::unexpected(nothing_in(source + "/" + name));
}

}  // namespace

bool has_joined(const IdentityFiles& files) { return files.contains(k_member_file); }

Result<Credentials> credentials_in(const IdentityFiles& files, const std::string& source) {
  const auto text = part_of(files, source, k_member_file);
  if (!text) return tl::unexpected(text.error());
  const auto member = model::read_json<MemberFile>(*text, source + "/" + k_member_file);
  if (!member) return tl::unexpected(member.error());
  const auto authorities = part_of(files, source, k_authorities_file);
  if (!authorities) return tl::unexpected(authorities.error());
  const auto certificate = part_of(files, source, k_certificate_file);
  if (!certificate) return tl::unexpected(certificate.error());
  const auto key = part_of(files, source, k_key_file);
  if (!key) return tl::unexpected(key.error());
  const auto facts = pki::read_certificate(*certificate);
  if (!facts) return tl::unexpected(facts.error());
  return Credentials{member->broker, member->federation,   member->name,      member->roles,
                     *authorities,   {*certificate, *key}, facts->not_before, facts->not_after};
}

Status put_answer(IdentityFiles& files, const std::string& broker,
                  const wire::CertificateAnswer& told) {
  const MemberFile member{broker, told.federation, told.name, told.roles};
  SPILLWAY_TRY(validate(member));
  files[k_authorities_file] = told.authorities;
  files[k_certificate_file] = told.certificate;
  files[k_member_file] = model::write_json(member);
  return {};
}

Status check_is_cluster(const Credentials& credentials, const std::string& source) {
  if (is_cluster(credentials.roles)) return {};
  return fail(Code::denied, source,
              fmt::format("it is the identity of {} ({}), and an agent is for a cluster",
                          credentials.name, model::to_text(credentials.roles)),
              "name that of a provider or consumer with --dir or --in-cluster, or join as one: "
              "spillway token create --cluster NAME --roles provider,consumer");
}

bool has_joined(const std::string& folder) {
  return ::access(path_of(folder, k_member_file).c_str(), F_OK) == 0;
}

Result<Credentials> load_credentials(const std::string& folder) {
  IdentityFiles files;
  for (const char* name : {k_member_file, k_authorities_file, k_certificate_file, k_key_file}) {
    const bool is_key = std::string_view(name) == k_key_file;
    auto part = read_part(folder, name, is_key ? pki::Readers::owner_only : pki::Readers::anyone);
    if (!part) return tl::unexpected(std::move(part).error());
    files[name] = std::move(*part);
  }
  return credentials_in(files, folder);
}

Result<pki::Key> keep_key(const std::string& folder) {
  const std::string path = path_of(folder, k_key_file);
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
  return pki::write_private(path_of(folder, k_key_file), pem.view());
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

Status check_first_answer(const pki::Key& key, const wire::CertificateAnswer& told,
                          const std::string& pinned_authority) {
  SPILLWAY_TRY(check_answer(key, told));
  const auto bundle = pki::split_bundle(told.authorities);
  if (!bundle) return tl::unexpected(bundle.error());
  for (const std::string& pem : *bundle) {
    if (pki::fingerprint_of(pem).value_or(std::string()) == pinned_authority) return {};
  }
  return fail(Code::denied, "broker",
              "the authority that the token names is not among those that it trusts",
              "ask the operator whether this is the right broker");
}

Status save_credentials(const std::string& folder, const std::string& broker,
                        const wire::CertificateAnswer& told) {
  IdentityFiles files;
  SPILLWAY_TRY(put_answer(files, broker, told));
  for (const char* name : {k_authorities_file, k_certificate_file, k_member_file}) {
    SPILLWAY_TRY(pki::write_private(path_of(folder, name), files[name]));
  }
  return {};
}

}  // namespace spillway::agent
