// spillway invoice: what a member has bought and sold in a time, and what it comes to.
#include "cli/asking.h"
#include "cli/documents.h"
#include "cli/invoice_text.h"
#include "cli/parse.h"
#include "cli/verbs.h"

namespace spillway::cli {
namespace {

struct InvoiceArguments {
  Asking asking;
  std::string from;
  std::string until;
  std::string cluster;
  bool sold = false;
  bool bought = false;
};

Result<wire::InvoiceAsked> invoice_asked(const InvoiceArguments& arguments) {
  const Instant today = now();
  wire::InvoiceAsked asked;
  asked.cluster = arguments.cluster;
  asked.limit = k_page;
  if (arguments.sold != arguments.bought) asked.side = arguments.sold ? "sold" : "bought";
  asked.from = month_of(today);
  if (!arguments.from.empty()) {
    const auto from = parse_when(arguments.from, today);
    if (!from) return tl::unexpected(of_option("--from", from.error()));
    asked.from = *from;
  }
  if (!arguments.until.empty()) {
    const auto until = parse_when(arguments.until, today);
    if (!until) return tl::unexpected(of_option("--until", until.error()));
    asked.until = *until;
  }
  return asked;
}

Result<wire::InvoiceAnswer> whole_invoice(Session& session, wire::InvoiceAsked asked) {
  wire::InvoiceAnswer whole;
  do {
    auto part = session.ask(&wire::BrokerClient::invoice, asked);
    if (!part) return tl::unexpected(part.error());
    const std::string next = part->next;
    add_part(whole, std::move(*part));
    if (next == asked.after) break;  // a broker that turns in circles
    asked.after = next;
    if (whole.lines.size() < k_most_rows || asked.after.empty()) continue;
    return fail(Code::over_quota, "invoice", fmt::format("it has more than {} lines", k_most_rows),
                "ask for less time at once: --from and --until");
  } while (!asked.after.empty());
  return whole;
}

int run_invoice(const InvoiceArguments& arguments) {
  const auto asked = invoice_asked(arguments);
  if (!asked) return wrongly_called("invoice", asked.error());
  const Asking& asking = arguments.asking;
  return with_session("invoice", asking, [&](Session& session) -> Status {
    const auto invoice = whole_invoice(session, *asked);
    if (!invoice) return tl::unexpected(invoice.error());
    return show(asking.form(), json_of(*invoice), [&] {
      if (asking.form() == Form::plain) return lines_table(*invoice, {now(), true}).plain();
      return invoice_text(*invoice, asking.clock(),
                          asking.form() == Form::wide ? 0 : terminal_width());
    });
  });
}

}  // namespace

void add_invoice(Word verb) {
  auto arguments = std::make_shared<InvoiceArguments>();
  verb.option("--from", arguments->from, "Since then: 2026-01-31, or 7d ago (this month)")
      .type_name("TIME");
  verb.option("--until", arguments->until, "Before then (now, with what is still running)")
      .type_name("TIME");
  verb.flag("--bought", arguments->bought, "Only what was bought");
  verb.flag("--sold", arguments->sold, "Only what was sold");
  verb.option("--cluster", arguments->cluster, "As operator or viewer: whose").type_name("NAME");
  add_asking(verb, arguments->asking);
  verb.examples(
      "  spillway invoice\n"
      "  spillway invoice --from 2026-01-01 --until 2026-02-01 --sold\n"
      "  spillway invoice --from 7d -o json | jq '.totals'\n");
  verb.run([arguments] { return run_invoice(*arguments); });
}

}  // namespace spillway::cli
