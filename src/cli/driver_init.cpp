// spillway driver init: the driver's folder, with its authority and a first caller.
#include "cli/driver_words.h"
#include "cli/files.h"
#include "cli/outcome.h"
#include "pki/authority_folder.h"
#include "pki/private_file.h"
#include "services/agent/credentials.h"

namespace spillway::cli {
namespace {

Result<pki::AuthorityFolder> open_authority(const std::string& folder) {
  const std::string in = driver_authority(folder);
  auto authority = pki::AuthorityFolder::load(in);
  if (authority || authority.error().code != Code::not_found) return authority;
  return pki::AuthorityFolder::create(in, driver::k_federation, now());
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
  const bool has_authority =
      pki::AuthorityFolder::load(driver_authority(arguments.folder)).has_value();
  if (is_there(file) && agent::has_joined(caller) && has_authority) {
    return fail(Code::conflict, arguments.folder, "a driver is set up here already",
                "run it: spillway driver --folder " + arguments.folder);
  }
  SPILLWAY_TRY(make_driver_folder(arguments.folder));
  SPILLWAY_TRY(open_authority(arguments.folder).map([](const pki::AuthorityFolder&) {}));
  if (!is_there(file)) {
    SPILLWAY_TRY(
        pki::write_private(file, driver::first_driver_config(config.listen, config.names)));
  }
  const auto url = make_driver_caller(arguments.folder, {"operator", caller});
  if (!url) return tl::unexpected(url.error());
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

}  // namespace spillway::cli
