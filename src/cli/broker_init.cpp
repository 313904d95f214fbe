// spillway broker init: a folder from which a broker can run, and its first operator.
#include "base/text.h"
#include "cli/asking.h"
#include "cli/broker_setup.h"
#include "cli/broker_words.h"
#include "cli/outcome.h"

namespace spillway::cli {
namespace {

struct InitArguments {
  BrokerSetup setup;
  std::string operator_role;  // NAME or NAME=operator
  bool if_missing = false;
};

Status take_operator(InitArguments& arguments) {
  if (arguments.operator_role.empty()) return {};
  const size_t equals = arguments.operator_role.find('=');
  if (equals != std::string::npos && arguments.operator_role.substr(equals + 1) != "operator") {
    return fail(
        Code::invalid, "--operator",
        in_quotes(arguments.operator_role.substr(equals + 1)) + " is not what the first one can be",
        "the first identity is an operator; invite others with spillway token create");
  }
  arguments.setup.operator_name = arguments.operator_role.substr(0, equals);
  return {};
}

int run_init(InitArguments arguments) {
  if (const Status status = take_operator(arguments); !status) {
    return wrongly_called("broker init", status.error());
  }
  arguments.setup.data = data_folder(arguments.setup.data);
  if (arguments.if_missing && is_set_up(arguments.setup.data)) {
    fmt::print("A broker is set up in {} already; all stays as it is.\n", arguments.setup.data);
    return k_ok;
  }
  const auto done = set_up_broker(arguments.setup);
  if (!done) return failed("broker init", done.error());
  const std::string& data = arguments.setup.data;
  fmt::print(
      "The broker of {0} is set up in {1}. Next:\n\n"
      "  spillway broker --data {1}\n"
      "      runs it, on {2}\n"
      "  spillway broker authority backup --data {1} --out authority.backup\n"
      "      keep that file elsewhere: without the authority nobody can join or renew\n"
      "  spillway token create --dir {3} --cluster NAME --roles provider,consumer\n"
      "      invites a cluster, as the operator {4}\n",
      arguments.setup.federation, data, done->url, done->operator_dir,
      arguments.setup.operator_name);
  return k_ok;
}

}  // namespace

void add_broker_init(Word verb) {
  auto arguments = std::make_shared<InitArguments>();
  const Word word = verb.add("init", "Make the folder of a broker; a broken-off init is completed");
  add_data(word, arguments->setup.data);
  word.option("--federation", arguments->setup.federation,
              "Its name, such as lab or eu.example; it never changes")
      .required();
  word.option("--name", arguments->setup.names,
              "What the broker is called by members, DNS or IP; the first is told to them; may "
              "be repeated (localhost, 127.0.0.1)")
      .may_repeat();
  word.option("--listen", arguments->setup.listen, "Address and port")
      .type_name("HOST:PORT")
      .show_default();
  word.option("--operator", arguments->operator_role, "The first operator's name (operator)")
      .type_name("NAME=operator");
  word.flag("--if-missing", arguments->if_missing,
            "A broker that is set up already is left as it is: for init containers");
  word.examples(
      "  spillway broker init --data ./broker --federation lab\n"
      "  spillway broker init --federation eu.example --name broker.eu.example \\\n"
      "      --listen [::]:7443 --operator ada=operator\n");
  word.run([arguments] { return run_init(*arguments); });
}

}  // namespace spillway::cli
