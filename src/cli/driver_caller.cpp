// spillway driver caller: key and certificate of somebody who may call a driver.
#include <filesystem>

#include "cli/broker_words.h"
#include "cli/driver_words.h"
#include "cli/files.h"
#include "cli/outcome.h"
#include "pki/authority_folder.h"
#include "pki/certificate.h"
#include "pki/private_file.h"
#include "services/agent/credentials.h"
#include "services/host_port.h"

namespace spillway::cli {
namespace {

constexpr Duration k_caller_life = hours(365 * 24);  // nobody renews them: another one is made

Result<std::string> url_of(const driver::DriverConfig& config) {
  const auto at = services::parse_host_port(config.listen, "listen");
  if (!at) return tl::unexpected(at.error());
  return url_text(config.names.front(), at->port);
}

// That whoever trusts `authorities` knows the driver by the certificate that its file names.
Status check_known_by(const std::string& folder, const std::string& certificate,
                      const std::string& authorities) {
  const std::string path = certificate.starts_with('/') ? certificate : folder + "/" + certificate;
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  const auto chain = pki::split_bundle(*text);
  if (!chain) return tl::unexpected(chain.error());
  if (pki::check_issued_by(chain->back(), authorities)) return {};
  return fail(Code::conflict, path,
              "the driver's own authority has not signed it: a caller could not tell by it whether "
              "this is the driver",
              "name who has: spillway driver caller NAME --authorities FILE");
}

// Whom a caller trusts. `file`: who has signed the driver's certificate; empty: its own authority,
// whose `bundle` that is.
Result<std::string> trusted(const std::string& folder, const driver::DriverConfig& config,
                            const std::string& file, const std::string& bundle) {
  if (file.empty()) {
    if (!config.certificate.empty()) {
      SPILLWAY_TRY(check_known_by(folder, config.certificate, bundle));
    }
    return bundle;
  }
  auto given = read_file(file);
  if (!given) return given;
  if (const auto read = pki::split_bundle(*given); !read) return tl::unexpected(read.error());
  return given;
}

struct CallerArguments {
  std::string folder = "/etc/spillway/driver";
  NewDriverCaller wanted;
};

Status make_named_caller(const CallerArguments& arguments) {
  NewDriverCaller wanted = arguments.wanted;
  if (wanted.into.empty()) wanted.into = arguments.folder + "/" + wanted.name;
  const auto url = make_driver_caller(arguments.folder, wanted);
  if (!url) return tl::unexpected(url.error());
  fmt::print(
      "{0} has key and certificate in {1}, for a year. It may nothing until the driver's file "
      "lists "
      "it:\n\n"
      "callers:\n"
      "  - certificate: {0}\n"
      "    consumers: [\"*\"]\n"
      "    providers: [\"*\"]\n",
      wanted.name, wanted.into);
  return {};
}

}  // namespace

std::string driver_authority(const std::string& folder) {
  return fmt::format("{}/{}", folder, driver::k_authority_name);
}

Status make_driver_folder(const std::string& folder) {
  std::error_code error;
  const auto parent = std::filesystem::absolute(folder, error).lexically_normal().parent_path();
  if (!error) std::filesystem::create_directories(parent, error);
  if (error) {
    return fail(Code::denied, parent.string(), "it cannot be made: " + error.message(),
                "name another folder");
  }
  return pki::make_private_folder(folder);
}

// As an identity of a federation is kept, so that the same words can use it.
Result<std::string> make_driver_caller(const std::string& folder, const NewDriverCaller& wanted) {
  SPILLWAY_TRY(pki::check_member_name(wanted.name));
  const auto config = read_driver_config(folder);
  if (!config) return tl::unexpected(config.error());
  auto url = url_of(*config);
  if (!url) return url;
  const auto authority = pki::AuthorityFolder::load(driver_authority(folder));
  if (!authority) return tl::unexpected(authority.error());
  const auto authorities = trusted(folder, *config, wanted.authorities, authority->bundle());
  if (!authorities) return tl::unexpected(authorities.error());
  SPILLWAY_TRY(make_driver_folder(wanted.into));
  const auto key = agent::keep_key(wanted.into);
  if (!key) return tl::unexpected(key.error());
  const Instant not_after{(now() + k_caller_life).ms / 1000 * 1000};
  const auto certificate =
      authority->signer().issue_member(key->public_key(), wanted.name, now(), not_after);
  if (!certificate) return tl::unexpected(certificate.error());
  SPILLWAY_TRY(agent::save_credentials(wanted.into, *url,
                                       {driver::k_federation,
                                        wanted.name,
                                        {model::Role::viewer},
                                        *certificate,
                                        *authorities,
                                        not_after,
                                        not_after}));
  return url;
}

void add_driver_caller(Word verb) {
  auto arguments = std::make_shared<CallerArguments>();
  const Word word = verb.add("caller", "Make key and certificate of somebody who may call it");
  word.option("name", arguments->wanted.name, "Its name").required();
  add_driver_folder(word, arguments->folder);
  word.option("--out", arguments->wanted.into, "Where they go (a folder of that name in --folder)")
      .type_name("DIR");
  word.option("--authorities", arguments->wanted.authorities,
              "Who has signed the certificate that driver.yaml names, PEM (the driver's own)")
      .type_name("FILE");
  word.examples(
      "  spillway driver caller autoscaler-rome --folder ./driver\n"
      "  spillway driver caller dashboard --folder ./driver --out ./dashboard\n"
      "  spillway driver caller operator --folder ./driver --authorities company.pem\n");
  word.run([arguments] {
    const Status done = make_named_caller(*arguments);
    return done ? k_ok : failed("driver caller", done.error());
  });
}

}  // namespace spillway::cli
