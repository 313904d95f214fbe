// spillway identities: who has joined, and the end of an identity.
#include "cli/asking.h"
#include "cli/documents.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

struct IdentitiesArguments {
  Asking asking;
  std::string name;
};

int list_identities(const Asking& asking) {
  return with_session("identities", asking, [&](Session& session) -> Status {
    const auto page =
        all_pages(session, &wire::BrokerClient::list_identities, &wire::IdentityPage::identities);
    if (!page) return tl::unexpected(page.error());
    const Clock clock = asking.clock();
    Table table({{"NAME"}, {"ROLES"}, {"JOINED"}, {"CERTIFICATE"}, {"KEY"}});
    for (const wire::IdentityRow& row : page->identities) {
      const std::string until = row.revoked                 ? "revoked " + clock(*row.revoked)
                                : row.not_after < clock.now ? "expired " + clock(row.not_after)
                                                            : "ends " + clock(row.not_after);
      table.add({row.name, model::to_text(row.roles), clock(row.since), until,
                 asking.form() == Form::wide ? row.key : row.key.substr(0, 16)});
    }
    return show(asking.form(), json_of(*page), table, "Nobody has joined.");
  });
}

int run_revoke(const IdentitiesArguments& arguments) {
  const Asking& asking = arguments.asking;
  return with_session("identities revoke", asking, [&](Session& session) -> Status {
    const auto row = session.ask(&wire::BrokerClient::revoke, arguments.name);
    if (!row) return tl::unexpected(row.error());
    return show(asking.form(), json_of(*row), [&] {
      return fmt::format(
          "{} is revoked: its connections are cut, what it had on sale is withdrawn. Its contracts "
          "stay.\nTo let it in again: spillway token create --cluster {} …\n",
          arguments.name, arguments.name);
    });
  });
}

}  // namespace

void add_identities(Word verb) {
  auto arguments = std::make_shared<IdentitiesArguments>();
  add_asking(verb, arguments->asking);
  verb.examples(
      "  spillway identities\n"
      "  spillway identities -o wide\n"
      "  spillway identities revoke milan-edge\n");
  const Word list = verb.add("list", "All identities");
  add_asking(list, arguments->asking);
  const Word revoke = verb.add("revoke", "End an identity, at once");
  revoke.option("name", arguments->name, "Of the identity").required();
  add_asking(revoke, arguments->asking);
  revoke.run([arguments] { return run_revoke(*arguments); });
  verb.run([arguments] { return list_identities(arguments->asking); });
}

}  // namespace spillway::cli
