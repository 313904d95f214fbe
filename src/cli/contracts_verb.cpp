// spillway contracts: every rung of the ladder, for buyers; notice, for providers.
#include "cli/asking.h"
#include "cli/contract_text.h"
#include "cli/documents.h"
#include "cli/parse.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

using wire::BrokerClient;

struct ContractsArguments {
  Asking asking;
  std::string id;
  std::string ttl;
  std::vector<int32_t> units;
};

int list_contracts(const Asking& asking) {
  return with_session("contracts", asking, [&](Session& session) -> Status {
    const auto page =
        all_pages(session, &BrokerClient::list_contracts, &wire::ContractPage::contracts);
    if (!page) return tl::unexpected(page.error());
    return show(asking.form(), json_of(*page), contracts_table(page->contracts, asking.clock()),
                "No contracts.");
  });
}

// One word of it: asks, then shows what the contract has become.
int run_one(const char* verb, const ContractsArguments& arguments,
            const std::function<Result<wire::ContractAnswer>(Session&, const ContractId&)>& ask) {
  if (const Status status = check_contract_id(arguments.id); !status) {
    return wrongly_called(verb, status.error());
  }
  const Asking& asking = arguments.asking;
  return with_session(verb, asking, [&](Session& session) -> Status {
    const auto told = ask(session, ContractId(arguments.id));
    if (!told) return tl::unexpected(told.error());
    return show(asking.form(), json_of(*told), [&] {
      return asking.form() == Form::plain
                 ? contracts_table({told->contract}, asking.clock()).plain()
                 : contract_text(told->contract, asking.clock());
    });
  });
}

int run_extend(const ContractsArguments& arguments) {
  const auto ttl = parse_duration(arguments.ttl);
  if (!ttl) return wrongly_called("contracts extend", of_option("--ttl", ttl.error()));
  return run_one("contracts extend", arguments, [&](Session& session, const ContractId& id) {
    return session.ask(&BrokerClient::extend, id, wire::ExtendRequest{*ttl});
  });
}

int run_release(const ContractsArguments& arguments) {
  return run_one("contracts release", arguments, [&](Session& session, const ContractId& id) {
    return session.ask(&BrokerClient::release, id, wire::ReleaseRequest{arguments.units});
  });
}

struct PlainWord {
  const char* name;
  const char* verb;
  const char* summary;
  Result<wire::ContractAnswer> (*ask)(Session&, const ContractId&);
};

constexpr std::array k_plain_words{
    PlainWord{"show", "contracts show", "Everything about one",
              [](Session& session, const ContractId& id) {
                return session.ask(&BrokerClient::get_contract, id);
              }},
    PlainWord{"confirm", "contracts confirm", "Sign a hold: the money runs from now on",
              [](Session& session, const ContractId& id) {
                return session.ask(&BrokerClient::confirm, id, wire::ConfirmRequest{});
              }},
    PlainWord{"renew", "contracts renew", "Renew its lease",
              [](Session& session, const ContractId& id) {
                return session.ask(&BrokerClient::renew, id, wire::SignedRequest{});
              }},
    PlainWord{"notice", "contracts notice", "As its provider: end it after the agreed notice",
              [](Session& session, const ContractId& id) {
                return session.ask(&BrokerClient::give_notice, id, wire::SignedRequest{});
              }},
};

Word add_word(Word verb, ContractsArguments& arguments, const char* name, const char* summary) {
  const Word word = verb.add(name, summary);
  word.option("id", arguments.id, "Of the contract").required();
  add_asking(word, arguments.asking);
  return word;
}

}  // namespace

void add_contracts(Word verb) {
  auto arguments = std::make_shared<ContractsArguments>();
  add_asking(verb, arguments->asking);
  verb.examples(
      "  spillway contracts\n"
      "  spillway contracts confirm 01jq3f8z5y6k7m8n9p0q1r2s3t\n"
      "  spillway contracts release 01jq3f8z5y6k7m8n9p0q1r2s3t --unit 1 --unit 2\n"
      "  spillway contracts -o json | jq -r '.contracts[].id'\n");
  const Word list = verb.add("list", "All that this identity is a party of");
  add_asking(list, arguments->asking);
  for (const PlainWord& plain : k_plain_words) {
    const Word word = add_word(verb, *arguments, plain.name, plain.summary);
    word.run([arguments, &plain] { return run_one(plain.verb, *arguments, plain.ask); });
  }
  const Word extend = add_word(verb, *arguments, "extend", "Let a hold live longer, from now on");
  extend.option("--ttl", arguments->ttl, "So long: 2m").type_name("TIME").required();
  extend.run([arguments] { return run_extend(*arguments); });
  const Word release = add_word(verb, *arguments, "release", "Give units back, or all of them");
  release.option("--unit", arguments->units, "Only this one; may be repeated")
      .may_repeat()
      .not_negative();
  release.run([arguments] { return run_release(*arguments); });
  verb.run([arguments] { return list_contracts(arguments->asking); });
}

}  // namespace spillway::cli
