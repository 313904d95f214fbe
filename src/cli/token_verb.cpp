// spillway token: invitations. A token lets one newcomer join under one name.
#include <cstdlib>

#include "cli/asking.h"
#include "cli/documents.h"
#include "cli/parse.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"
#include "services/agent/credentials.h"

namespace spillway::cli {
namespace {

struct TokenArguments {
  Asking asking;
  std::string cluster;
  std::string operator_name;
  std::string viewer;
  std::string roles;
  std::string labels;
  std::string ttl = "1h";
  std::string id;
};

tl::unexpected<Error> say_for_whom() {
  return fail(Code::invalid, "token", "it is not said for whom",
              "give one of --cluster NAME, --operator NAME, --viewer NAME");
}

Result<wire::TokenRequest> request_of(const TokenArguments& arguments) {
  wire::TokenRequest request;
  const int named = (arguments.cluster.empty() ? 0 : 1) +
                    (arguments.operator_name.empty() ? 0 : 1) + (arguments.viewer.empty() ? 0 : 1);
  if (named != 1) return say_for_whom();
  if (!arguments.cluster.empty()) {
    request.name = arguments.cluster;
    if (arguments.roles.empty()) {
      return fail(Code::invalid, "--roles", "it is not said what the cluster will do",
                  "use provider, consumer or provider,consumer");
    }
    auto roles = parse_roles(arguments.roles);
    if (!roles) return tl::unexpected(roles.error());
    request.roles = std::move(*roles);
  } else {
    if (!arguments.roles.empty()) {
      return fail(Code::invalid, "--roles", "they are for clusters", "leave it out");
    }
    const bool is_operator = !arguments.operator_name.empty();
    request.name = is_operator ? arguments.operator_name : arguments.viewer;
    request.roles = {is_operator ? model::Role::operator_ : model::Role::viewer};
  }
  auto labels = parse_labels(arguments.labels);
  if (!labels) return tl::unexpected(labels.error());
  request.labels = std::move(*labels);
  const auto ttl = parse_duration(arguments.ttl);
  if (!ttl) return tl::unexpected(of_option("--ttl", ttl.error()));
  request.ttl = *ttl;
  return request;
}

std::string friendly(const Asking& asking, const wire::TokenAnswer& told) {
  const auto member = agent::load_credentials(identity_dir(asking.dir));
  const std::string broker = !asking.broker.empty() ? asking.broker
                             : member               ? member->broker
                                                    : "https://BROKER";
  return fmt::format(
      "A token for {}, good for one join {}. It is shown only now:\n\n"
      "  {}\n\n"
      "On the machine that joins:\n\n"
      "  spillway join {} --token-file -     (then paste the token)\n"
      "  spillway join {} --token {}\n\n"
      "Whoever has it can join as {}. To take it back: spillway token cancel {}\n",
      safe(told.name), "until " + to_text(told.expires), safe(told.token), safe(broker),
      safe(broker), safe(told.token), safe(told.name), safe(told.id));
}

int run_create(const TokenArguments& arguments) {
  const auto request = request_of(arguments);
  if (!request) return wrongly_called("token create", request.error());
  const Asking& asking = arguments.asking;
  return with_session("token create", asking, [&](Session& session) -> Status {
    const auto told = session.ask(&wire::BrokerClient::make_token, *request);
    if (!told) return tl::unexpected(told.error());
    return show(asking.form(), json_of(*told), [&] {
      return asking.form() == Form::plain ? safe(told->token) + "\n" : friendly(asking, *told);
    });
  });
}

int list_tokens(const Asking& asking) {
  return with_session("token list", asking, [&](Session& session) -> Status {
    const auto page =
        all_pages(session, &wire::BrokerClient::list_tokens, &wire::TokenPage::tokens);
    if (!page) return tl::unexpected(page.error());
    const Clock clock = asking.clock();
    Table table({{"ID"}, {"FOR"}, {"ROLES"}, {"STATE"}, {"LABELS"}});
    for (const wire::TokenRow& row : page->tokens) {
      std::string labels;
      for (const model::Label& label : row.labels) {
        labels += (labels.empty() ? "" : ",") + label.key + "=" + label.value;
      }
      const std::string state = row.used                  ? "used"
                                : row.expires < clock.now ? "expired " + clock(row.expires)
                                                          : "open, ends " + clock(row.expires);
      table.add({row.id, row.name, model::to_text(row.roles), state, labels});
    }
    return show(asking.form(), json_of(*page), table, "No tokens.");
  });
}

int run_cancel(const TokenArguments& arguments) {
  return with_session("token cancel", arguments.asking, [&](Session& session) -> Status {
    if (arguments.id.starts_with("swt1.")) {
      return fail(Code::invalid, "token", "that is the token itself, and it is wanted by its id",
                  "see spillway token list");
    }
    Status status = session.ask(&wire::BrokerClient::cancel_token, arguments.id);
    if (!status) return status;
    return show(arguments.asking.form(), "{}", [&] {
      return fmt::format("Token {} is cancelled: nobody can join with it.\n", arguments.id);
    });
  });
}

void add_create(Word verb, const std::shared_ptr<TokenArguments>& arguments) {
  const Word create = verb.add("create", "Make one; it is shown once");
  create.option("--cluster", arguments->cluster, "A cluster of this name joins").type_name("NAME");
  create.option("--operator", arguments->operator_name, "An operator of this name joins")
      .type_name("NAME");
  create.option("--viewer", arguments->viewer, "A viewer of this name joins").type_name("NAME");
  create.option("--roles", arguments->roles, "What the cluster does: provider,consumer")
      .type_name("ROLES");
  create.option("--labels", arguments->labels, "Labels that providers may choose by: k=v,…")
      .type_name("LABELS");
  create.option("--ttl", arguments->ttl, "How long it may be used")
      .show_default()
      .type_name("TIME");
  add_asking(create, arguments->asking);
  create.run([arguments] { return run_create(*arguments); });
}

}  // namespace

void add_token(Word verb) {
  auto arguments = std::make_shared<TokenArguments>();
  verb.examples(
      "  spillway token create --cluster milan-edge --roles provider,consumer\n"
      "  spillway token create --cluster lyon --roles consumer --labels tier=gold -o plain\n"
      "  spillway token create --viewer dashboard --ttl 10m\n"
      "  spillway token list\n");
  add_create(verb, arguments);
  const Word list = verb.add("list", "Those that are open, used or lately expired");
  add_asking(list, arguments->asking);
  list.run([arguments] { return list_tokens(arguments->asking); });
  const Word cancel = verb.add("cancel", "Take one back that nobody has used");
  cancel.option("id", arguments->id, "Of the token, from token list").required();
  add_asking(cancel, arguments->asking);
  cancel.run([arguments] { return run_cancel(*arguments); });
  verb.require_word();
}

}  // namespace spillway::cli
