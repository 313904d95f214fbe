#include "cli/asking.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/safe_text.h"
#include "cli/yaml_text.h"
#include "services/agent/credentials.h"

namespace spillway::cli {

Form Asking::form() const {
  if (output == "wide") return Form::wide;
  if (output == "json") return Form::json;
  if (output == "yaml") return Form::yaml;
  if (output == "plain") return Form::plain;
  return Form::table;
}

void add_dir(Word verb, std::string& dir) {
  verb.option("--dir", dir,
              "The identity's folder (else $SPILLWAY_DIR, ~/.spillway if it is there, "
              "/etc/spillway)")
      .type_name("DIR");
}

void add_asking(Word verb, Asking& asking) {
  add_dir(verb, asking.dir);
  verb.option("--broker", asking.broker, "Another address of the broker than the joined one")
      .type_name("URL");
  add_output(verb, asking.output);
}

void add_output(Word verb, std::string& output) {
  verb.option("-o,--output", output,
              "table, wide (exact times), json, yaml, or plain (tabs, no titles)")
      .type_name("FORM")
      .one_of({"table", "wide", "json", "yaml", "plain"});
}

std::string identity_dir(const std::string& given,
                         const std::function<const char*(const char*)>& environment,
                         const std::function<bool(const std::string&)>& is_there) {
  if (!given.empty()) return given;
  if (const char* dir = environment("SPILLWAY_DIR"); dir != nullptr && *dir != '\0') return dir;
  if (const char* home = environment("HOME"); home != nullptr && *home != '\0') {
    std::string dir = std::string(home) + "/.spillway";
    if (is_there(dir)) return dir;
  }
  return "/etc/spillway";
}

std::string identity_dir(const std::string& given) {
  return identity_dir(
      given, [](const char* name) -> const char* { return std::getenv(name); },
      [](const std::string& path) {
        std::error_code ignored;
        return std::filesystem::is_directory(path, ignored);
      });
}

Result<std::unique_ptr<Session>> open_session(const Asking& asking) {
  auto member = agent::load_credentials(identity_dir(asking.dir));
  if (!member) {
    Error error = member.error();
    const bool is_missing = error.code == Code::not_found && !asking.how_to_get_one.empty();
    if (is_missing) error.next = asking.how_to_get_one;
    return tl::unexpected(std::move(error));
  }
  net::ClientOptions options;
  options.authorities_pem = member->authorities_pem;
  options.identity = member->tls;
  return Session::open(asking.broker.empty() ? member->broker : asking.broker, std::move(options));
}

int with_session(std::string_view verb, const Asking& asking,
                 const std::function<Status(Session&)>& talk) {
  const auto session = open_session(asking);
  if (!session) return failed(verb, session.error());
  const Status status = talk(**session);
  return status ? k_ok : refused(verb, status.error());
}

Status show(Form form, const std::string& json, const std::function<std::string()>& text) {
  if (form == Form::json) {
    fmt::print("{}\n", safe_json(json));
  } else if (form == Form::yaml) {
    const auto yaml = yaml_of_json(json);
    if (!yaml) return tl::unexpected(yaml.error());
    fmt::print("{}", *yaml);
  } else {
    fmt::print("{}", text());
  }
  return {};
}

Status show(Form form, const std::string& json, const Table& table, std::string_view if_empty) {
  return show(form, json, [&]() -> std::string {
    if (form == Form::plain) return table.plain();
    if (table.empty()) return std::string(if_empty) + "\n";
    return table.text(form == Form::wide ? 0 : terminal_width());
  });
}

}  // namespace spillway::cli
