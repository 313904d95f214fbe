// spillway trust: the pins of a member, wherever it lives. Running agents and autoscalers read them
// again each time.
#include "cli/asking.h"
#include "cli/member_place.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"
#include "pki/signed_documents.h"
#include "services/agent/signatory.h"

namespace spillway::cli {
namespace {

using agent::TrustBook;

struct TrustArguments {
  MemberPlace place;
  Asking asking;  // only how it is shown
  std::string name;
  std::string fingerprint;
  std::string first_use;
};

std::string_view first_use_words(bool is_allowed) {
  return is_allowed ? "yes, whoever is met first is pinned, and marked as first-use"
                    : "no, nobody is trusted on first use; add pins by spillway trust add";
}

int end_with(const char* verb, const Status& status) {
  return status ? k_ok : failed(verb, status.error());
}

// Options that contradict each other are told before anything is asked.
template <class F>
int at_place(const char* verb, const TrustArguments& arguments, const F& run_it) {
  if (const Status place = check(arguments.place); !place) {
    return wrongly_called(verb, place.error());
  }
  return run_it(arguments);
}

Status show_pins(const TrustArguments& arguments) {
  const auto told = read_trust(arguments.place);
  if (!told) return tl::unexpected(told.error());
  const TrustBook& book = told->book;
  const Clock clock = arguments.asking.clock();
  Table table({{"CLUSTER"}, {"HOW"}, {"SINCE"}, {"CARD", Align::right}, {"KEY"}});
  for (const auto& [cluster, pin] : book.pins) {
    table.add({cluster.text, std::string(agent::to_text(pin.how)), clock(pin.since),
               pin.card == 0 ? std::string() : fmt::format("{}", pin.card), pin.key});
  }
  return show(arguments.asking.form(), to_json(book), table,
              book.first_use ? "Nobody is pinned; whoever is met first will be."
                             : "Nobody is pinned, and nobody is trusted on first use.");
}

Status change_pins(const TrustArguments& arguments, const agent::Papers::TrustChange& change,
                   const std::string& said) {
  if (const auto told = change_trust(arguments.place, change); !told) {
    return tl::unexpected(told.error());
  }
  fmt::print("{}\n", said);
  return {};
}

using PinChange = Status (*)(TrustBook&, const ClusterId&, const std::string&, Instant);

int run_pin(const char* verb, const TrustArguments& arguments, PinChange change) {
  const auto key = agent::read_fingerprint(arguments.fingerprint);
  if (!key) return wrongly_called(verb, key.error());
  if (const Status name = check_cluster_id(arguments.name); !name) {
    return wrongly_called(verb, name.error());
  }
  return end_with(verb, change_pins(
                            arguments,
                            [&](TrustBook& book) {
                              return change(book, ClusterId(arguments.name), *key, now());
                            },
                            fmt::format("{} is known by {}.", arguments.name, *key)));
}

int run_remove(const TrustArguments& arguments) {
  return end_with(
      "trust remove",
      change_pins(
          arguments,
          [&](TrustBook& book) { return agent::remove_pin(book, ClusterId(arguments.name)); },
          fmt::format("{} is no longer pinned.", safe(arguments.name))));
}

Status show_policy(const TrustArguments& arguments) {
  const auto told = read_trust(arguments.place);
  if (!told) return tl::unexpected(told.error());
  const bool is_allowed = told->book.first_use;
  return show(arguments.asking.form(), fmt::format(R"({{"first_use":{}}})", is_allowed),
              [&]() -> std::string {
                if (arguments.asking.form() == Form::plain) return is_allowed ? "yes\n" : "no\n";
                return fmt::format("first use:  {}\n", first_use_words(is_allowed));
              });
}

int run_policy(const TrustArguments& arguments) {
  if (arguments.first_use.empty()) return end_with("trust policy", show_policy(arguments));
  const bool allowed = arguments.first_use == "yes";
  return end_with("trust policy", change_pins(
                                      arguments,
                                      [allowed](TrustBook& book) {
                                        book.first_use = allowed;
                                        return Status();
                                      },
                                      fmt::format("First use: {}.", first_use_words(allowed))));
}

Status show_own(const TrustArguments& arguments) {
  const auto told = read_trust(arguments.place);
  if (!told) return tl::unexpected(told.error());
  const auto self = agent::Signatory::of(told->member);
  if (!self) return tl::unexpected(self.error());
  const std::string& own_card = told->book.card;
  const auto card = pki::verify_card(own_card);
  const bool is_shown = card && self->is_own(card->card);
  const Form form = arguments.asking.form();
  if (form == Form::plain) {
    fmt::print("{}\n", self->fingerprint());
    return {};
  }
  const std::string json = fmt::format(
      R"({{"cluster":"{}","federation":"{}","key":"{}","card":{}}})", self->cluster().text,
      self->federation(), self->fingerprint(), is_shown ? own_card : std::string("null"));
  return show(form, json, [&]() -> std::string {
    Facts facts;
    facts.add("cluster", self->cluster().text);
    facts.add("federation", self->federation());
    facts.add("key", self->fingerprint());
    facts.add("card", is_shown ? fmt::format("number {}", card->card.number)
                               : std::string("not shown to the broker yet"));
    facts.add("liqo", is_shown ? card->card.liqo : std::string());
    return facts.text() + fmt::format(
                              "\nGive this to others, by another way than the broker:\n"
                              "  spillway trust add {} {}\n",
                              self->cluster().text, self->fingerprint());
  });
}

void add_pin_word(Word verb, const std::shared_ptr<TrustArguments>& arguments, const char* name,
                  const char* summary, const char* full_name, PinChange change) {
  const Word word = verb.add(name, summary);
  word.option("name", arguments->name, "Of the cluster").required();
  word.option("fingerprint", arguments->fingerprint,
              "Of its key: 64 hexadecimal digits, as its operator's spillway trust show says")
      .required();
  add_member_place(word, arguments->place);
  word.run([arguments, full_name, change] {
    return at_place(full_name, *arguments,
                    [&](const TrustArguments& given) { return run_pin(full_name, given, change); });
  });
}

}  // namespace

void add_trust(Word verb) {
  auto arguments = std::make_shared<TrustArguments>();
  add_member_place(verb, arguments->place);
  add_output(verb, arguments->asking.output);
  verb.examples(
      "  spillway trust show\n"
      "  spillway trust list\n"
      "  spillway trust add turin 3f1c…\n"
      "  spillway trust policy\n"
      "  spillway trust policy --first-use no\n"
      "  spillway trust add turin 3f1c… --in-cluster spillway-agent --kubeconfig ~/.kube/config\n");
  const auto list = [arguments] {
    return at_place("trust list", *arguments, [](const TrustArguments& given) {
      return end_with("trust list", show_pins(given));
    });
  };
  const Word listing = verb.add("list", "All pins, and how they came to be");
  const Word own = verb.add("show", "Our own fingerprint and card, to be given to others");
  for (const Word& word : {listing, own}) {
    add_member_place(word, arguments->place);
    add_output(word, arguments->asking.output);
  }
  own.run([arguments] {
    return at_place("trust show", *arguments, [](const TrustArguments& given) {
      return end_with("trust show", show_own(given));
    });
  });
  listing.run(list);
  add_pin_word(verb, arguments, "add", "Pin the key of a cluster", "trust add", &agent::add_pin);
  add_pin_word(verb, arguments, "replace", "Consent to another key of a cluster", "trust replace",
               &agent::replace_pin);
  const Word remove = verb.add("remove", "Forget a pin: the cluster is met anew then");
  remove.option("name", arguments->name, "Of the cluster").required();
  add_member_place(remove, arguments->place);
  remove.run([arguments] { return at_place("trust remove", *arguments, run_remove); });
  const Word policy =
      verb.add("policy", "Whether whoever is met first is trusted: shows it, or sets it");
  policy.option("--first-use", arguments->first_use, "yes or no, from now on (shows what it is)")
      .one_of({"yes", "no"});
  add_member_place(policy, arguments->place);
  add_output(policy, arguments->asking.output);
  policy.run([arguments] { return at_place("trust policy", *arguments, run_policy); });
  verb.run(list);
}

}  // namespace spillway::cli
