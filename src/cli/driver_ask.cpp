// spillway driver order, end, units, peerings: a driver asked once.
#include "cli/driver_words.h"
#include "cli/files.h"
#include "cli/outcome.h"
#include "cli/parse.h"
#include "host/random.h"
#include "model/codec.h"
#include "services/driver/driver_client.h"

namespace spillway::cli {
namespace {

using driver::DriverClient;
using driver::UnitDocument;

// One question, by a client that lives on the connection's thread as long as it is asked.
template <class T, class... P, class... Args>
Result<T> ask_driver(Session& session, void (DriverClient::*question)(P...), Args... args) {
  return session.wait<T>([&session, question, args...](wire::Then<T> then) {
    DriverClient client(session.channel());
    (client.*question)(args..., std::move(then));
  });
}

std::string troubles_of(const std::vector<fabric::Trouble>& troubles) {
  std::string text;
  for (const fabric::Trouble& one : troubles) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", one.thing, one.reason);
  }
  return text;
}

// One that is to end, and has not begun to.
std::string step_text(const UnitDocument& unit) {
  const bool is_told = unit.ending && unit.step < fabric::UnitStep::draining;
  return fmt::format("{}{}", to_text(unit.step), is_told ? ", to end" : "");
}

Table units_table(const std::vector<UnitDocument>& units, const Clock& clock) {
  Table table({{"UNIT"}, {"CONSUMER"}, {"PROVIDER"}, {"STEP"}, {"SINCE"}, {"TROUBLE"}});
  for (const UnitDocument& unit : units) {
    table.add({unit.unit, unit.order.consumer, unit.order.provider, step_text(unit),
               clock(unit.since), troubles_of(unit.troubles)});
  }
  return table;
}

Status show_unit(const Asking& asking, const UnitDocument& unit) {
  return show(asking.form(), model::write_json(unit), units_table({unit}, asking.clock()), "");
}

// All pages of a list, as one.
template <class Page, class Row>
Result<Page> all_of(Session& session,
                    void (DriverClient::*list)(const driver::UnitsAsked&, DriverClient::Then<Page>),
                    driver::UnitsAsked asked, std::vector<Row> Page::*rows) {
  Page all;
  while (true) {
    auto page = ask_driver<Page>(session, list, asked);
    if (!page) return page;
    for (Row& row : (*page).*rows) (all.*rows).push_back(std::move(row));
    if (page->next.empty() || page->next == asked.after) return all;
    asked.after = page->next;
  }
}

struct ListArguments {
  Asking asking;
  driver::UnitsAsked asked;
};

void add_list(Word word, ListArguments& arguments) {
  word.option("--consumer", arguments.asked.consumer, "Of this cluster").type_name("NAME");
  word.option("--provider", arguments.asked.provider, "From this cluster").type_name("NAME");
  add_driver_asking(word, arguments.asking);
}

struct OrderArguments {
  Asking asking;
  std::string unit;
  std::string file;
  std::string cpu = "1";
  std::string memory = "1Gi";
  std::string pods = "110";
  std::string labels;
  driver::UnitOrder order;
};

// Of this moment, as a broker would.
std::string new_unit() {
  host::SystemRandom random;
  return unit_name(make_contract_id(now(), random.next(), random.next()), 0);
}

Result<driver::UnitOrder> order_of(const OrderArguments& arguments) {
  if (!arguments.file.empty()) {
    const auto text = read_file(arguments.file);
    if (!text) return tl::unexpected(text.error());
    return model::read_yaml<driver::UnitOrder>(
        *text, model::Heading{.what = arguments.file, .pointing = model::Pointing::line});
  }
  driver::UnitOrder order = arguments.order;
  const std::string resources =
      fmt::format(R"({{"version":1,"cpu":"{}","memory":"{}","pods":"{}"}})", arguments.cpu,
                  arguments.memory, arguments.pods);
  auto read = model::read_json<model::Resources>(resources, "--cpu, --memory and --pods");
  if (!read) return tl::unexpected(read.error());
  order.resources = std::move(*read);
  if (!arguments.labels.empty()) {
    auto labels = parse_labels(arguments.labels);
    if (!labels) return tl::unexpected(labels.error());
    order.labels = std::move(*labels);
  }
  SPILLWAY_TRY(driver::validate(order));
  return order;
}

int run_order(const OrderArguments& arguments) {
  const auto order = order_of(arguments);
  if (!order) return wrongly_called("driver order", order.error());
  const std::string unit = arguments.unit.empty() ? new_unit() : arguments.unit;
  return with_session("driver order", arguments.asking, [&](Session& session) -> Status {
    const auto told = ask_driver<UnitDocument>(session, &DriverClient::order, unit, *order);
    if (!told) return tl::unexpected(told.error());
    return show_unit(arguments.asking, *told);
  });
}

// A file is the whole order: of what stands beside it nobody could say which of both counts.
void add_order(Word word, OrderArguments& arguments) {
  driver::UnitOrder& order = arguments.order;
  const std::vector<Setting> own{
      word.option("consumer", order.consumer, "The cluster that gets the node"),
      word.option("provider", order.provider, "The cluster that its pods run in"),
      word.option("--cpu", arguments.cpu, "Of the node").show_default(),
      word.option("--memory", arguments.memory, "Of the node").show_default(),
      word.option("--pods", arguments.pods, "That the node takes").show_default(),
      word.option("--labels", arguments.labels, "Of the node: disk=ssd,zone=a"),
      word.option("--provider-id", order.provider_id, "Of the node (spillway://<contract>/<n>)")
          .type_name("ID"),
      word.flag("--spare", order.spare, "At zero, until it is ordered without this")};
  const Setting file = word.option("-f,--file", arguments.file,
                                   "The whole order, as YAML or JSON; only --unit beside")
                           .type_name("FILE");
  for (const Setting& one : own) file.excludes(one);
}

}  // namespace

void add_driver_asking(Word word, Asking& asking) {
  word.option("--dir", asking.dir, "The caller's folder, with key and certificate")
      .type_name("DIR")
      .required();
  word.option("--driver", asking.broker, "Another address than the caller's folder has")
      .type_name("URL");
  add_output(word, asking.output);
  asking.how_to_get_one =
      "name a caller's folder: spillway driver init makes that of operator, spillway driver caller "
      "NAME another";
}

void add_driver_units(Word verb) {
  auto arguments = std::make_shared<ListArguments>();
  const Word word = verb.add("units", "How far units are");
  add_list(word, *arguments);
  word.examples(
      "  spillway driver units --dir ./driver/operator\n"
      "  spillway driver units --consumer rome -o json --dir ./driver/operator\n");
  word.run([arguments] {
    return with_session("driver units", arguments->asking, [&](Session& session) -> Status {
      const auto page =
          all_of(session, &DriverClient::list_units, arguments->asked, &driver::UnitPage::units);
      if (!page) return tl::unexpected(page.error());
      return show(arguments->asking.form(), model::write_json(*page),
                  units_table(page->units, arguments->asking.clock()), "No units.");
    });
  });
}

void add_driver_peerings(Word verb) {
  auto arguments = std::make_shared<ListArguments>();
  const Word word = verb.add("peerings", "Which peerings stand, and why");
  add_list(word, *arguments);
  word.examples(
      "  spillway driver peerings --dir ./driver/operator\n"
      "  spillway driver peerings --provider milan -o yaml --dir ./driver/operator\n");
  word.run([arguments] {
    return with_session("driver peerings", arguments->asking, [&](Session& session) -> Status {
      const auto page = all_of(session, &DriverClient::list_peerings, arguments->asked,
                               &driver::PeeringPage::peerings);
      if (!page) return tl::unexpected(page.error());
      Table table({{"CONSUMER"},
                   {"PROVIDER"},
                   {"STATE"},
                   {"KEPT"},
                   {"PROVIDER IS"},
                   {"UNITS", Align::right},
                   {"TROUBLE"}});
      for (const driver::PeeringDocument& one : page->peerings) {
        const std::string kept = !one.kept   ? ""
                                 : one.until ? arguments->asking.clock()(*one.until)
                                             : "yes";
        table.add({one.consumer, one.provider,
                   one.closing ? "closing"
                   : one.open  ? "open"
                               : "opening",
                   kept, std::string(to_text(one.life)), fmt::format("{}", one.units.size()),
                   troubles_of(one.troubles)});
      }
      return show(arguments->asking.form(), model::write_json(*page), table, "No peerings.");
    });
  });
}

void add_driver_order(Word verb) {
  auto arguments = std::make_shared<OrderArguments>();
  const Word word = verb.add("order", "Order a unit; the same again changes nothing");
  word.option("--unit", arguments->unit, "Its name, sw-<contract>-<n> (a new one)")
      .type_name("NAME");
  add_order(word, *arguments);
  add_driver_asking(word, arguments->asking);
  word.examples(
      "  spillway driver order rome milan --cpu 4 --memory 8Gi --dir ./driver/operator\n"
      "  spillway driver order -f order.yaml --unit sw-06b8vxpv5j26w5z2cdm4h0rvg8-0 --dir …\n");
  word.run([arguments] { return run_order(*arguments); });
}

void add_driver_end(Word verb) {
  struct EndArguments {
    Asking asking;
    std::string unit;
  };
  auto arguments = std::make_shared<EndArguments>();
  const Word word = verb.add("end", "Drain a unit and take it down");
  word.option("unit", arguments->unit, "Its name").required();
  add_driver_asking(word, arguments->asking);
  word.examples(
      "  spillway driver end sw-06b8vxpv5j26w5z2cdm4h0rvg8-0 --dir ./driver/operator\n"
      "  spillway driver end sw-06b8vxpv5j26w5z2cdm4h0rvg8-0 -o json --dir ./driver/operator\n");
  word.run([arguments] {
    return with_session("driver end", arguments->asking, [&](Session& session) -> Status {
      const auto told = ask_driver<UnitDocument>(session, &DriverClient::end, arguments->unit);
      if (!told) return tl::unexpected(told.error());
      return show_unit(arguments->asking, *told);
    });
  });
}

}  // namespace spillway::cli
