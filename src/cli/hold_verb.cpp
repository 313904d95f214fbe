// spillway hold: units of one offer. When the answer is lost the same hold is asked for again under
// the same key, so that nothing is held twice.
#include <thread>

#include "cli/asking.h"
#include "cli/contract_text.h"
#include "cli/documents.h"
#include "cli/liqo_place.h"
#include "cli/parse.h"
#include "cli/safe_text.h"
#include "cli/signed_session.h"
#include "cli/verbs.h"
#include "market/rules.h"
#include "pki/hash.h"

namespace spillway::cli {
namespace {

constexpr int k_hold_tries = 5;
constexpr auto k_hold_pause = std::chrono::milliseconds(200);
constexpr auto k_sign_patience = std::chrono::seconds(30);  // for the provider's signature

struct HoldArguments {
  Asking asking;
  std::string offer;
  int32_t units = 1;
  int32_t at_least = 0;  // 0: all of them
  std::string ttl = "1m";
  bool confirm = false;
  bool spare = false;
  LiqoPlace liqo;
  std::string key;
};

Result<wire::HoldRequest> request_of(const HoldArguments& arguments) {
  SPILLWAY_TRY(check_owned_id(arguments.offer));
  const int32_t at_least = arguments.at_least == 0 ? arguments.units : arguments.at_least;
  if (at_least > arguments.units) {
    return fail(Code::invalid, "--at-least", "it is more than --units",
                "ask for as many units at least");
  }
  const auto ttl = parse_duration(arguments.ttl);
  if (!ttl) return tl::unexpected(of_option("--ttl", ttl.error()));
  wire::HoldRequest request;
  request.lines.push_back({OfferId(arguments.offer), arguments.units, at_least, arguments.spare});
  request.ttl = *ttl;
  return request;
}

// "unavailable" says that nobody knows what became of it: asking again is safe, and the only way to
// find out.
template <class Ask>
auto insist(const Ask& ask) {
  auto told = ask();
  auto pause = k_hold_pause;
  for (int i = 1; i < k_hold_tries && !told && told.error().code == Code::unavailable; ++i) {
    std::this_thread::sleep_for(pause);
    pause *= 2;
    told = ask();
  }
  return told;
}

// What is signed is what was granted.
Status check_is_grant(const market::Grant& grant, const model::Contract& contract) {
  if (contract.offer == grant.offer && contract.rate == grant.rate &&
      contract.price.currency == grant.currency && contract.live_units() == grant.units) {
    return {};
  }
  return fail(Code::conflict, "contract " + contract.id.text,
              "it is not what was granted: offer, price or number of units differ",
              "look at it: spillway contracts show " + contract.id.text);
}

// Whoever may still sign is waited for, and what nobody knows is asked again. What we ourselves
// refuse will not be signed later: it is given back, others may want it.
bool is_refused_for_good(const Error& error) {
  return error.code == Code::denied || error.code == Code::conflict || error.code == Code::invalid;
}

Error given_back(SignedSession& signing, const market::Grant& grant, Error why) {
  const auto told = signing.release(grant.contract, {});
  const std::string& id = grant.contract.text;
  why.next += why.next.empty() ? "" : "; ";
  why.next += told ? fmt::format("the hold {} was given back", id)
                   : fmt::format("the hold {} stays until {}, or: spillway contracts release {}",
                                 id, to_text(grant.hold_until), id);
  return why;
}

Status confirm_all(const HoldArguments& arguments, const agent::Signing::FabricOf& fabric,
                   Session& session, const wire::HoldAnswer& held) {
  const Asking& asking = arguments.asking;
  wire::ContractPage page;
  SignedSession signing(session, identity_dir(asking.dir));
  signing.bind_fabric(fabric);
  for (const market::Grant& grant : held.grants) {
    auto told = insist([&] {
      const auto check = [grant](const model::Contract& contract) {
        return check_is_grant(grant, contract);
      };
      return signing.confirm(grant.contract, check, k_sign_patience);
    });
    if (!told && is_refused_for_good(told.error())) {
      return tl::unexpected(given_back(signing, grant, told.error()));
    }
    if (!told) return tl::unexpected(told.error());
    page.contracts.push_back(std::move(told->contract));
  }
  return show(asking.form(), json_of(page), [&]() -> std::string {
    std::string text;
    for (const model::Contract& contract : page.contracts) {
      text += asking.form() == Form::plain ? safe(contract.id.text) + "\n"
                                           : contract_text(contract, asking.clock());
    }
    return text;
  });
}

Status hold(const HoldArguments& arguments, const wire::HoldRequest& request,
            const std::string& key, Session& session) {
  // Before anything is held: a cluster that cannot be asked costs nobody anything.
  const auto fabric = fabric_of(arguments.liqo);
  if (!fabric) return tl::unexpected(fabric.error());
  const auto held = insist([&] { return session.ask(&wire::BrokerClient::hold, key, request); });
  if (!held) {
    Error error = held.error();
    if (error.code == Code::unavailable) {
      error.next += fmt::format("{}the hold may be there: ask again with --key {}",
                                error.next.empty() ? "" : "; ", key);
    }
    return tl::unexpected(std::move(error));
  }
  const Asking& asking = arguments.asking;
  if (arguments.confirm) return confirm_all(arguments, *fabric, session, *held);
  return show(asking.form(), json_of(*held), [&]() -> std::string {
    std::string text;
    if (asking.form() == Form::plain) {
      for (const market::Grant& grant : held->grants) text += safe(grant.contract.text) + "\n";
      return text;
    }
    text = grants_text(*held, asking.clock());
    for (const market::Grant& grant : held->grants) {
      text += fmt::format("To sign it: spillway contracts confirm {}\n", safe(grant.contract.text));
    }
    return text;
  });
}

int run_hold(const HoldArguments& arguments) {
  if (!arguments.liqo.fabric.empty() && !arguments.confirm) {
    return wrongly_called("hold",
                          {Code::invalid, "--fabric", "nothing is signed without --confirm",
                           "add --confirm, or give --fabric to spillway contracts confirm"});
  }
  const auto request = request_of(arguments);
  if (!request) return wrongly_called("hold", request.error());
  const std::string key =
      arguments.key.empty() ? pki::to_hex(pki::random_secret(16).view()) : arguments.key;
  return with_session("hold", arguments.asking,
                      [&](Session& session) { return hold(arguments, *request, key, session); });
}

}  // namespace

void add_hold(Word verb) {
  auto arguments = std::make_shared<HoldArguments>();
  const int32_t most = market::Rules{}.max_units;  // what a broker takes
  verb.option("offer", arguments->offer, "Of which offer: cluster/name").required();
  verb.option("--units", arguments->units, "How many").in_range(1, most).show_default();
  verb.option("--at-least", arguments->at_least, "Be content with so many (all)").in_range(1, most);
  verb.option("--ttl", arguments->ttl, "How long it is held without being confirmed")
      .type_name("TIME")
      .show_default();
  verb.flag("--confirm", arguments->confirm,
            "Sign it at once: the money runs once both have signed");
  verb.flag("--spare", arguments->spare,
            "Units that take and cost nothing until spillway contracts buy makes units of them");
  add_liqo_place(verb, arguments->liqo);
  verb.option("--key", arguments->key,
              "Idempotency: the same key again gets the same hold (a random one)");
  add_asking(verb, arguments->asking);
  verb.examples(
      "  spillway hold turin/a100-small --units 2 --at-least 1\n"
      "  spillway hold turin/a100-small --confirm\n"
      "  spillway hold turin/a100-small --confirm --fabric liqo --kubeconfig lyon.kubeconfig\n"
      "  spillway hold turin/a100-small --spare --confirm --fabric liqo\n"
      "  spillway hold turin/a100-small --key nightly-2026-02-01 -o plain\n");
  verb.run([arguments] { return run_hold(*arguments); });
}

}  // namespace spillway::cli
