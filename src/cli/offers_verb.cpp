// spillway offers: for a consumer what fits, best first; for a provider its own; for operators and
// viewers all.
#include "cli/asking.h"
#include "cli/documents.h"
#include "cli/intent_options.h"
#include "cli/offer_text.h"
#include "cli/parse.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

struct OffersArguments {
  Asking asking;
  IntentOptions intent;
  int32_t limit = 10;
  bool explain = false;
  bool mine = false;
  bool all = false;
  std::string id;
};

Status list_published(const Asking& asking, Session& session) {
  const auto page = all_pages(session, &wire::BrokerClient::list_offers, &wire::OfferPage::offers);
  if (!page) return tl::unexpected(page.error());
  return show(asking.form(), json_of(*page), offers_table(*page, asking.clock()),
              "No offers. An agent with --policy or --supply publishes its own.");
}

// The answer has no price of the time after: that is the contract's own.
std::string paid_notes(const std::vector<wire::PaidUnits>& all, const Clock& clock,
                       Session& session) {
  std::string text;
  for (const wire::PaidUnits& paid : all) {
    const auto told = session.ask(&wire::BrokerClient::get_contract, paid.contract);
    if (told) text += paid_note(paid, told->contract, clock);  // else it has ended meanwhile
  }
  return text;
}

Status list_fitting(const OffersArguments& arguments, const model::Intent& intent,
                    Session& session) {
  wire::QueryRequest request;
  request.intent = intent;
  request.limit = arguments.limit;
  request.explain = arguments.explain;
  request.paid = true;
  const auto told = session.ask(&wire::BrokerClient::query, request);
  if (!told) return tl::unexpected(told.error());
  const Form form = arguments.asking.form();
  return show(form, json_of(*told), [&]() -> std::string {
    const Table table = ranking_table(*told);
    if (form == Form::plain) return table.plain();
    const std::string notes = paid_notes(told->paid, arguments.asking.clock(), session) +
                              ranking_notes(*told, arguments.explain);
    if (table.empty()) return notes;
    return table.text(form == Form::wide ? 0 : terminal_width()) + notes;
  });
}

int list_offers(const OffersArguments& arguments) {
  if (arguments.mine || arguments.all) {
    return with_session("offers", arguments.asking, [&](Session& session) {
      return list_published(arguments.asking, session);
    });
  }
  const auto intent = intent_from(arguments.intent);
  if (!intent) return wrongly_called("offers", intent.error());
  return with_session("offers", arguments.asking, [&](Session& session) {
    Status status = list_fitting(arguments, *intent, session);
    if (!status && status.error().code == Code::denied && status.error().next.empty()) {
      status.error().next = "as a provider use --mine, as an operator or viewer --all";
    }
    return status;
  });
}

int run_show(const OffersArguments& arguments) {
  if (const Status status = check_owned_id(arguments.id); !status) {
    return wrongly_called("offers show", status.error());
  }
  const Asking& asking = arguments.asking;
  return with_session("offers show", asking, [&](Session& session) -> Status {
    const auto row = session.ask(&wire::BrokerClient::get_offer, OfferId(arguments.id));
    if (!row) return tl::unexpected(row.error());
    return show(asking.form(), json_of(*row), [&] { return offer_text(*row, asking.clock()); });
  });
}

void add_list_options(Word word, OffersArguments& arguments) {
  add_intent_options(word, arguments.intent);
  word.option("--limit", arguments.limit, "The best so many").in_range(1, 1000).show_default();
  word.flag("--explain", arguments.explain, "Every term of every cost, and what ruled others out");
  word.flag("--mine", arguments.mine, "What this provider has published");
  word.flag("--all", arguments.all, "What everyone has published (operators, viewers)");
  add_asking(word, arguments.asking);
}

}  // namespace

void add_offers(Word verb) {
  auto arguments = std::make_shared<OffersArguments>();
  add_list_options(verb, *arguments);
  verb.examples(
      "  spillway offers --cpu 4 --memory 16Gi --near 45.46,9.19 --carbon-worth 0.10\n"
      "  spillway offers -f intent.yaml --max-price 2.50 --explain\n"
      "  spillway offers --mine\n"
      "  spillway offers show turin/a100-small\n");
  const Word list = verb.add("list", "The same as without a word");
  add_list_options(list, *arguments);
  const Word one = verb.add("show", "Everything about one");
  one.option("id", arguments->id, "Of the offer: cluster/name").required();
  add_asking(one, arguments->asking);
  one.run([arguments] { return run_show(*arguments); });
  verb.run([arguments] { return list_offers(*arguments); });
}

}  // namespace spillway::cli
