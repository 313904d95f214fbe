// spillway driver init, spillway driver caller: the driver's folder, and who may call it.
#include <filesystem>

#include "cli/broker_words.h"
#include "cli/driver_words.h"
#include "cli/files.h"
#include "cli/outcome.h"
#include "pki/authority_folder.h"
#include "pki/private_file.h"
#include "services/agent/credentials.h"
#include "services/host_port.h"

namespace spillway::cli {
namespace {

constexpr Duration k_caller_life = hours(365 * 24);  // nobody renews them: another one is made

std::string authority_of(const std::string& folder) {
  return fmt::format("{}/{}", folder, driver::k_authority_name);
}

Status make_folder(const std::string& folder) {
  std::error_code error;
  const auto parent = std::filesystem::absolute(folder, error).lexically_normal().parent_path();
  if (!error) std::filesystem::create_directories(parent, error);
  if (error) {
    return fail(Code::denied, parent.string(), "it cannot be made: " + error.message(),
                "name another folder");
  }
  return pki::make_private_folder(folder);
}

Result<pki::AuthorityFolder> open_authority(const std::string& folder) {
  auto authority = pki::AuthorityFolder::load(authority_of(folder));
  if (authority || authority.error().code != Code::not_found) return authority;
  return pki::AuthorityFolder::create(authority_of(folder), driver::k_federation, now());
}

// As an identity of a federation is kept, so that the same words can use it.
Status make_caller(const std::string& folder, const std::string& url, const std::string& name,
                   const std::string& into) {
  SPILLWAY_TRY(pki::check_member_name(name));
  const auto authority = pki::AuthorityFolder::load(authority_of(folder));
  if (!authority) return tl::unexpected(authority.error());
  SPILLWAY_TRY(make_folder(into));
  const auto key = agent::keep_key(into);
  if (!key) return tl::unexpected(key.error());
  const Instant not_after{(now() + k_caller_life).ms / 1000 * 1000};
  const auto certificate =
      authority->signer().issue_member(key->public_key(), name, now(), not_after);
  if (!certificate) return tl::unexpected(certificate.error());
  return agent::save_credentials(into, url,
                                 {driver::k_federation,
                                  name,
                                  {model::Role::viewer},
                                  *certificate,
                                  authority->bundle(),
                                  not_after,
                                  not_after});
}

Result<std::string> url_of(const std::string& folder) {
  const auto config = read_driver_config(folder);
  if (!config) return tl::unexpected(config.error());
  const auto at = services::parse_host_port(config->listen, "listen");
  if (!at) return tl::unexpected(at.error());
  return url_text(config->names.front(), at->port);
}

struct InitArguments {
  std::string folder = "/etc/spillway/driver";
  std::string listen = driver::DriverConfig{}.listen;
  std::vector<std::string> names;
};

Status init(const InitArguments& arguments) {
  driver::DriverConfig config;
  config.listen = arguments.listen;
  if (!arguments.names.empty()) config.names = arguments.names;
  SPILLWAY_TRY(validate(config));
  const std::string file = arguments.folder + "/" + driver::k_config_name;
  const std::string caller = arguments.folder + "/operator";
  if (is_there(file) && agent::has_joined(caller)) {
    return fail(Code::conflict, arguments.folder, "a driver is set up here already",
                "run it: spillway driver --folder " + arguments.folder);
  }
  SPILLWAY_TRY(make_folder(arguments.folder));
  SPILLWAY_TRY(open_authority(arguments.folder).map([](const pki::AuthorityFolder&) {}));
  if (!is_there(file)) {
    SPILLWAY_TRY(
        pki::write_private(file, driver::first_driver_config(config.listen, config.names)));
  }
  const auto url = url_of(arguments.folder);
  if (!url) return tl::unexpected(url.error());
  SPILLWAY_TRY(make_caller(arguments.folder, *url, "operator", caller));
  fmt::print(
      "A driver is set up in {0}. Next:\n\n"
      "  edit {1}\n"
      "      names its clusters, each with a kubeconfig\n"
      "  spillway driver --folder {0}\n"
      "      runs it, on {2}\n"
      "  spillway driver watch --dir {3}\n"
      "      shows what it does, as its caller operator\n",
      arguments.folder, file, *url, caller);
  return {};
}

struct CallerArguments {
  std::string folder = "/etc/spillway/driver";
  std::string name;
  std::string out;
};

Status make_named_caller(const CallerArguments& arguments) {
  const std::string into =
      arguments.out.empty() ? arguments.folder + "/" + arguments.name : arguments.out;
  const auto url = url_of(arguments.folder);
  if (!url) return tl::unexpected(url.error());
  SPILLWAY_TRY(make_caller(arguments.folder, *url, arguments.name, into));
  fmt::print(
      "{0} has key and certificate in {1}, for a year. It may nothing until the driver's file "
      "lists "
      "it:\n\n"
      "callers:\n"
      "  - certificate: {0}\n"
      "    consumers: [\"*\"]\n"
      "    providers: [\"*\"]\n",
      arguments.name, into);
  return {};
}

}  // namespace

void add_driver_init(Word verb) {
  auto arguments = std::make_shared<InitArguments>();
  const Word word = verb.add("init", "Make the folder of a driver, and its first caller");
  add_driver_folder(word, arguments->folder);
  word.option("--listen", arguments->listen, "Address and port")
      .type_name("HOST:PORT")
      .show_default();
  word.option("--name", arguments->names,
              "What it is called by its callers, DNS or IP; may be repeated (localhost, 127.0.0.1)")
      .may_repeat();
  word.examples(
      "  spillway driver init --folder ./driver\n"
      "  spillway driver init --folder ./driver --listen 127.0.0.1:7700 --name "
      "driver.example.com\n");
  word.run([arguments] {
    const Status done = init(*arguments);
    return done ? k_ok : failed("driver init", done.error());
  });
}

void add_driver_caller(Word verb) {
  auto arguments = std::make_shared<CallerArguments>();
  const Word word = verb.add("caller", "Make key and certificate of somebody who may call it");
  word.option("name", arguments->name, "Its name").required();
  add_driver_folder(word, arguments->folder);
  word.option("--out", arguments->out, "Where they go (a folder of that name in --folder)")
      .type_name("DIR");
  word.examples(
      "  spillway driver caller autoscaler-rome --folder ./driver\n"
      "  spillway driver caller dashboard --folder ./driver --out ./dashboard\n");
  word.run([arguments] {
    const Status done = make_named_caller(*arguments);
    return done ? k_ok : failed("driver caller", done.error());
  });
}

}  // namespace spillway::cli
