// spillway broker operator: the way back in, for who owns the broker's folder and has no operator
// left that the broker would believe.
#include <filesystem>

#include "cli/asking.h"
#include "cli/broker_words.h"
#include "cli/operator_identity.h"
#include "cli/outcome.h"
#include "pki/authority_folder.h"
#include "pki/names.h"
#include "pki/private_file.h"
#include "services/agent/credentials.h"

namespace spillway::cli {
namespace {

constexpr const char* k_verb = "broker operator";

struct OperatorArguments {
  std::string data;
  std::string name;
  std::string dir;
};

// Opening the store would make an empty one: in the wrong folder, or before the right one is back.
Status check_market(const std::string& data) {
  std::error_code ignored;
  const std::string file = market_in(data);
  if (std::filesystem::exists(file, ignored)) return {};
  return fail(Code::not_found, file, "there is no market here",
              "name the broker's folder with --data, or bring market.db back first");
}

struct Whom {
  std::string name;
  std::string broker;  // its URL
};

Result<Whom> newcomer(const OperatorArguments& arguments) {
  const auto url = broker_url(arguments.data);
  if (!url) return tl::unexpected(url.error());
  return Whom{arguments.name.empty() ? "operator" : arguments.name, *url};
}

// The one in the folder, else who was named, else "operator". What belongs to somebody else is not
// written over.
Result<Whom> whom(const OperatorArguments& arguments, const std::string& federation) {
  if (!agent::has_joined(arguments.dir)) return newcomer(arguments);
  const auto present = agent::load_credentials(arguments.dir);
  if (!present && !arguments.name.empty()) return newcomer(arguments);
  if (!present) {
    return fail(Code::conflict, arguments.dir, "the identity here is damaged",
                "say whose it is with --name");
  }
  const bool is_operator = present->roles == model::Roles{model::Role::operator_};
  const bool is_named = arguments.name.empty() || arguments.name == present->name;
  if (is_operator && is_named && present->federation == federation) {
    return Whom{present->name, present->broker};
  }
  return fail(Code::conflict, arguments.dir,
              fmt::format("it is the identity of {} ({}) in {}", present->name,
                          model::to_text(present->roles), present->federation),
              "name another folder with --dir");
}

// A key that was lost may be in other hands: never the old one again. Until the commit nothing is
// touched in the folder; who is killed after it runs this once more.
Result<wire::CertificateAnswer> replace_operator(const OperatorArguments& arguments) {
  const auto authority = pki::AuthorityFolder::load(authority_in(arguments.data));
  if (!authority) return tl::unexpected(authority.error());
  SPILLWAY_TRY(check_market(arguments.data));
  const auto who = whom(arguments, authority->signer().federation());
  if (!who) return tl::unexpected(who.error());
  SPILLWAY_TRY(pki::check_member_name(who->name));
  SPILLWAY_TRY(pki::make_private_folder(arguments.dir));
  const pki::Key key = pki::Key::generate_member();
  auto told = enrol_operator({arguments.data, who->name, "broker-operator"}, key);
  if (!told) return told;
  SPILLWAY_TRY(agent::replace_key(arguments.dir, key));
  SPILLWAY_TRY(agent::save_credentials(arguments.dir, who->broker, *told));
  return told;
}

int run_operator(OperatorArguments arguments) {
  arguments.data = data_folder(arguments.data);
  if (arguments.dir.empty()) arguments.dir = operator_in(arguments.data);
  const auto told = replace_operator(arguments);
  if (!told) return failed(k_verb, told.error());
  fmt::print(
      "{0} is an operator of {1}, with a new key in {2}; its former one is out. The certificate is "
      "good until {3}.\n"
      "A broker that runs knows within a second; one that was not told of a rotated authority yet "
      "must be: kill -HUP its process.\n"
      "Next: spillway whoami --dir {2}\n",
      told->name, told->federation, arguments.dir, to_text(told->not_after));
  return k_ok;
}

}  // namespace

void add_broker_operator(Word verb) {
  auto arguments = std::make_shared<OperatorArguments>();
  const Word word =
      verb.add("operator", "Make or replace an operator from the folder alone, when none is left");
  add_data(word, arguments->data);
  word.option("--name", arguments->name, "Its name (the one in --dir, else operator)")
      .type_name("NAME");
  word.option("--dir", arguments->dir, "Where the identity goes (operator in the broker's folder)")
      .type_name("DIR");
  word.examples(
      "  spillway broker operator --data ./broker\n"
      "  spillway broker operator --data ./broker --name grace --dir ./grace\n");
  word.run([arguments] { return run_operator(*arguments); });
}

}  // namespace spillway::cli
