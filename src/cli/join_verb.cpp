// spillway join, spillway renew: how a machine gets its identity, and keeps it.
#include <filesystem>

#include "cli/asking.h"
#include "cli/documents.h"
#include "cli/safe_text.h"
#include "cli/secret_input.h"
#include "cli/verbs.h"
#include "pki/private_file.h"
#include "pki/request.h"
#include "pki/token.h"
#include "services/agent/credentials.h"

namespace spillway::cli {
namespace {

struct JoinArguments {
  std::string url;
  std::string token;
  std::string token_file;
  std::string dir;
  bool again = false;
};

// The id of the token that was used here: it tells a join that is repeated, for its answer was
// lost, from one that is meant for another folder.
std::string joined_with(const std::string& dir) { return dir + "/" + agent::k_token_file; }

Result<pki::Secret> token_text(const JoinArguments& arguments) {
  if (arguments.token.empty() == arguments.token_file.empty()) {
    return fail(Code::invalid, "token", "it is wanted once, by one of two options",
                "give --token-file FILE (- for standard input), or --token TOKEN");
  }
  if (arguments.token_file.empty()) return pki::Secret(arguments.token);
  return read_secret_line(arguments.token_file, "token");
}

// Where the new identity goes: unlike for the other verbs, ~/.spillway need not be there yet.
std::string join_dir(const std::string& given) {
  return identity_dir(
      given, [](const char* name) -> const char* { return std::getenv(name); },
      [](const std::string&) { return true; });
}

Status make_folder(const std::string& dir) {
  std::error_code ignored;  // make_private_folder says what is wrong
  std::filesystem::create_directories(std::filesystem::path(dir).parent_path(), ignored);
  return pki::make_private_folder(dir);
}

// Before anything is sent: the token would serve the key that is here, and no other one after it.
Status check_folder(const JoinArguments& arguments, const std::string& dir,
                    const std::string& token_id) {
  if (arguments.again || !agent::has_joined(dir)) return {};
  const auto before = pki::read_private(joined_with(dir), pki::Readers::anyone);
  if (before && before->view() == token_id) return {};
  const auto present = agent::load_credentials(dir);
  return fail(Code::conflict, dir,
              fmt::format("it is the identity of {}; nothing was sent, the token is as good as "
                          "before",
                          present ? present->name : "somebody"),
              "name another folder with --dir; if the token is for the same name, as after a "
              "revocation, add --again");
}

// The key is on the disk before anyone is asked: whoever loses the answer asks again with it.
Result<wire::CertificateAnswer> ask_to_join(const JoinArguments& arguments, const std::string& dir,
                                            const pki::Secret& text) {
  const auto token = pki::parse_token(text.view());
  if (!token) return tl::unexpected(token.error());
  net::ClientOptions options;
  options.pinned_authority = token->authority;
  const auto session = Session::open(arguments.url, std::move(options));
  if (!session) return tl::unexpected(session.error());
  SPILLWAY_TRY(make_folder(dir));
  const auto key = agent::keep_key(dir);
  if (!key) return tl::unexpected(key.error());
  const auto request = pki::make_request(*key, "joining");
  if (!request) return tl::unexpected(request.error());
  return (*session)->ask(&wire::BrokerClient::join,
                         wire::JoinRequest{std::string(text.view()), *request});
}

// What is saved is for our key, and signed by those whom we are told to believe.
Status check(const wire::CertificateAnswer& told, const std::string& dir,
             const std::string& pinned) {
  const auto key = agent::keep_key(dir);
  if (!key) return tl::unexpected(key.error());
  return agent::check_first_answer(*key, told, pinned);
}

Status refuse_another(const std::string& dir, const std::string& name) {
  if (!agent::has_joined(dir)) return {};
  const auto present = agent::load_credentials(dir);
  if (!present || present->name == name) return {};
  return fail(Code::conflict, dir,
              fmt::format("it is the identity of {}, the token is for {}", present->name, name),
              "name another folder with --dir");
}

int run_join(const JoinArguments& arguments) {
  const auto text = token_text(arguments);
  if (!text) return wrongly_called("join", text.error());
  const auto token = pki::parse_token(text->view());
  if (!token) return wrongly_called("join", token.error());
  if (const auto url = net::parse_url(arguments.url); !url) {
    return wrongly_called("join", url.error());
  }
  const std::string dir = join_dir(arguments.dir);
  const std::string token_id = pki::token_id(token->secret);
  Status status = check_folder(arguments, dir, token_id);
  if (!status) return failed("join", status.error());
  const auto told = ask_to_join(arguments, dir, *text);
  if (!told) return refused("join", told.error());
  status = refuse_another(dir, told->name);
  if (status) status = check(*told, dir, token->authority);
  if (status) status = pki::write_private(joined_with(dir), token_id);
  if (status) status = agent::save_credentials(dir, arguments.url, *told);
  if (!status) return failed("join", status.error());
  fmt::print(
      "Joined {} as {} ({}). The identity is in {}; its certificate is good until {}.\n"
      "Next: spillway doctor --dir {}\n",
      safe(told->federation), safe(told->name), model::to_text(told->roles), dir,
      to_text(told->not_after), dir);
  return k_ok;
}

int run_renew(const Asking& asking) {
  const std::string dir = identity_dir(asking.dir);
  const auto member = agent::load_credentials(dir);
  if (!member) return failed("renew", member.error());
  return with_session("renew", asking, [&](Session& session) -> Status {
    const auto key = pki::Key::from_pem(member->tls.key_pem);
    if (!key) return tl::unexpected(key.error());
    const auto request = pki::make_request(*key, member->name);
    if (!request) return tl::unexpected(request.error());
    const auto told =
        session.ask(&wire::BrokerClient::recertify, wire::CertificateRequest{*request});
    if (!told) return tl::unexpected(told.error());
    SPILLWAY_TRY(agent::check_answer(*key, *told));
    SPILLWAY_TRY(agent::save_credentials(
        dir, asking.broker.empty() ? member->broker : asking.broker, *told));
    return show(asking.form(), json_of(*told), [&] {
      return fmt::format("The certificate of {} is good until {}.\n", safe(told->name),
                         to_text(told->not_after));
    });
  });
}

}  // namespace

void add_join(Word verb) {
  auto arguments = std::make_shared<JoinArguments>();
  verb.option("url", arguments->url, "Of the broker: https://broker.example:7443").required();
  verb.option("--token-file", arguments->token_file,
              "A file with the token; - for standard input. Better than --token")
      .type_name("FILE");
  verb.option("--token", arguments->token,
              "The token itself; others on this machine can see it while this runs")
      .type_name("TOKEN");
  verb.option("--dir", arguments->dir, "Where the identity goes (else $SPILLWAY_DIR, ~/.spillway)")
      .type_name("DIR");
  verb.flag("--again", arguments->again,
            "The identity in the folder joins once more, with its key and another token");
  verb.examples(
      "  spillway join https://broker.example:7443 --token-file token.txt\n"
      "  spillway token create … -o plain | ssh edge spillway join https://… --token-file -\n"
      "  spillway join https://127.0.0.1:7443 --token swt1.… --dir ./milan-edge\n");
  verb.run([arguments] { return run_join(*arguments); });
}

void add_renew(Word verb) {
  auto asking = std::make_shared<Asking>();
  add_asking(verb, *asking);
  verb.examples(
      "  spillway renew\n"
      "  spillway renew --dir /etc/spillway -o json\n");
  verb.run([asking] { return run_renew(*asking); });
}

}  // namespace spillway::cli
