// spillway contracts: every rung of the ladder, for buyers; notice and readings, for providers.
#include "cli/asking.h"
#include "cli/contract_proof.h"
#include "cli/contract_text.h"
#include "cli/documents.h"
#include "cli/liqo_place.h"
#include "cli/papers_word.h"
#include "cli/parse.h"
#include "cli/signed_session.h"
#include "cli/use_options.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

using wire::BrokerClient;

struct ContractsArguments {
  Asking asking;
  std::string id;
  std::string ttl;
  std::string wait = "30s";
  bool verify = false;
  std::vector<int32_t> units;
  UseOptions use;
  LiqoPlace liqo;
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

using Ask = std::function<Result<wire::ContractAnswer>(SignedSession&, const ContractId&)>;

// One word of it: asks, then shows what the contract has become.
int run_one(const char* verb, const ContractsArguments& arguments, const Ask& ask) {
  if (const Status status = check_contract_id(arguments.id); !status) {
    return wrongly_called(verb, status.error());
  }
  const Asking& asking = arguments.asking;
  return with_session(verb, asking, [&](Session& session) -> Status {
    SignedSession signing(session, identity_dir(asking.dir));
    const auto told = ask(signing, ContractId(arguments.id));
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
  return run_one("contracts extend", arguments, [&](SignedSession& session, const ContractId& id) {
    return session.extend(id, *ttl);
  });
}

int run_confirm(const ContractsArguments& arguments) {
  const auto wait = parse_duration(arguments.wait);
  if (!wait) return wrongly_called("contracts confirm", of_option("--wait", wait.error()));
  return run_one("contracts confirm", arguments,
                 [&](SignedSession& session, const ContractId& id) -> SignedSession::Told {
                   const auto fabric = fabric_of(arguments.liqo);
                   if (!fabric) return tl::unexpected(fabric.error());
                   session.bind_fabric(*fabric);
                   return session.confirm(id, {}, std::chrono::milliseconds(wait->ms));
                 });
}

int run_release(const ContractsArguments& arguments) {
  return run_one("contracts release", arguments, [&](SignedSession& session, const ContractId& id) {
    return session.release(id, arguments.units);
  });
}

int run_buy(const ContractsArguments& arguments) {
  return run_one("contracts buy", arguments, [&](SignedSession& session, const ContractId& id) {
    return session.buy(id, arguments.units);
  });
}

Status verify_contract(const Asking& asking, Session& session, const ContractId& id) {
  const std::string dir = identity_dir(asking.dir);
  const auto member = agent::load_credentials(dir);
  if (!member) return tl::unexpected(member.error());
  const auto self = agent::Signatory::of(*member);
  if (!self) return tl::unexpected(self.error());
  const auto told = session.ask(&BrokerClient::get_agreement, id);
  if (!told) return tl::unexpected(told.error());
  agent::FolderPapers papers(dir);
  papers.on_set_aside = tell_set_aside;
  const auto proof = prove(*told, id, *self, papers, now());
  if (!proof) return tl::unexpected(proof.error());
  SPILLWAY_TRY(
      show(asking.form(), json_of(*proof), [&] { return proof_text(*proof, asking.clock()); }));
  if (proof->wrong.empty()) return {};
  return fail(Code::conflict, "contract " + id.text, proof->wrong, "do not rely on it");
}

int run_show(const ContractsArguments& arguments) {
  const char* verb = "contracts show";
  if (const Status status = check_contract_id(arguments.id); !status) {
    return wrongly_called(verb, status.error());
  }
  const ContractId id(arguments.id);
  const Asking& asking = arguments.asking;
  return with_session(verb, asking, [&](Session& session) -> Status {
    if (arguments.verify) return verify_contract(asking, session, id);
    const auto told = session.ask(&BrokerClient::get_contract, id);
    if (!told) return tl::unexpected(told.error());
    return show(asking.form(), json_of(*told), [&] {
      return asking.form() == Form::plain
                 ? contracts_table({told->contract}, asking.clock()).plain()
                 : contract_text(told->contract, asking.clock());
    });
  });
}

int run_meter(const ContractsArguments& arguments) {
  const auto used = readings_from(arguments.use);
  if (!used) return wrongly_called("contracts meter", used.error());
  return run_one("contracts meter", arguments, [&](SignedSession& session, const ContractId& id) {
    return session.meter_usage(id, *used);
  });
}

struct PlainWord {
  const char* name;
  const char* verb;
  const char* summary;
  Result<wire::ContractAnswer> (SignedSession::*ask)(const ContractId&);
};

constexpr std::array k_plain_words{
    PlainWord{"renew", "contracts renew", "Renew its lease", &SignedSession::renew},
    PlainWord{"drained", "contracts drained", "Of one that is closing: nothing of it runs any more",
              &SignedSession::drained},
    PlainWord{"notice", "contracts notice", "As its provider: end it after the agreed notice",
              &SignedSession::give_notice},
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
      "  spillway contracts show 01jq3f8z5y6k7m8n9p0q1r2s3t --verify\n"
      "  spillway contracts release 01jq3f8z5y6k7m8n9p0q1r2s3t --unit 1 --unit 2\n"
      "  spillway contracts buy 01jq3f8z5y6k7m8n9p0q1r2s3t --unit 0\n"
      "  spillway contracts meter 01jq3f8z5y6k7m8n9p0q1r2s3t --unit 0 --cpu-hours 12.5\n"
      "  spillway contracts -o json | jq -r '.contracts[].id'\n");
  const Word list = verb.add("list", "All that this identity is a party of");
  add_asking(list, arguments->asking);
  for (const PlainWord& plain : k_plain_words) {
    const Word word = add_word(verb, *arguments, plain.name, plain.summary);
    word.run([arguments, &plain] {
      return run_one(plain.verb, *arguments,
                     [&plain](SignedSession& session, const ContractId& id) {
                       return (session.*plain.ask)(id);
                     });
    });
  }
  const Word showing = add_word(verb, *arguments, "show", "Everything about one");
  showing.flag("--verify", arguments->verify,
               "Who signed it, by which keys, and whether all that is said of it was signed; what "
               "is proven is kept with our papers");
  showing.run([arguments] { return run_show(*arguments); });
  const Word confirm =
      add_word(verb, *arguments, "confirm", "Sign a hold: the money runs once both have signed");
  confirm.option("--wait", arguments->wait, "So long for the provider's signature")
      .type_name("TIME")
      .show_default();
  add_liqo_place(confirm, arguments->liqo);
  confirm.run([arguments] { return run_confirm(*arguments); });
  add_papers(verb);
  const Word extend = add_word(verb, *arguments, "extend", "Let a hold live longer, from now on");
  extend.option("--ttl", arguments->ttl, "So long: 2m").type_name("TIME").required();
  extend.run([arguments] { return run_extend(*arguments); });
  const Word release = add_word(verb, *arguments, "release", "Give units back, or all of them");
  release.option("--unit", arguments->units, "Only this one; may be repeated")
      .may_repeat()
      .not_negative();
  release.run([arguments] { return run_release(*arguments); });
  const Word buy = add_word(verb, *arguments, "buy",
                            "Of a contract of spares: make units of them, at the agreed price");
  buy.option("--unit", arguments->units, "This one; may be repeated")
      .may_repeat()
      .not_negative()
      .required();
  buy.run([arguments] { return run_buy(*arguments); });
  const Word meter = add_word(verb, *arguments, "meter",
                              "As its provider: what a unit has used since its start, in all");
  add_use_options(meter, arguments->use);
  meter.run([arguments] { return run_meter(*arguments); });
  verb.run([arguments] { return list_contracts(arguments->asking); });
}

}  // namespace spillway::cli
