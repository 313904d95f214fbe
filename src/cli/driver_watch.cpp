// spillway driver watch: the steps of units, as they are taken.
#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/driver_words.h"
#include "cli/outcome.h"
#include "cli/reopened.h"
#include "model/codec.h"
#include "services/driver/driver_client.h"

namespace spillway::cli {
namespace {

// "09:30:00.250": of the day, for whoever looks on.
std::string clock_text(Instant at) {
  const int64_t day = at.ms % hours(24).ms;
  return fmt::format("{:02}:{:02}:{:02}.{:03}", day / 3'600'000, day / 60'000 % 60, day / 1000 % 60,
                     day % 1000);
}

// Prints a line for each; how long a unit has taken so far is counted from its first step.
class Lines {
 public:
  explicit Lines(Form form) : form_(form) {}

  void print(const driver::Event& event) {
    if (form_ == Form::json) {
      fmt::print("{}\n", safe_json(model::write_json(event)));
    } else {
      fmt::print("{}\n", line_of(event));
    }
    std::fflush(stdout);  // whoever reads it from a pipe waits for it
  }

 private:
  std::string line_of(const driver::Event& event) {
    const std::string who = event.unit.empty() ? event.consumer + "/" + event.provider : event.unit;
    const std::string between = event.consumer + " → " + event.provider;
    unit_width_ = std::max(unit_width_, who.size());
    between_width_ = std::max(between_width_, event.consumer.size() + 3 + event.provider.size());
    const std::string what = event.step ? step_text(event) : trouble_text(event);
    if (form_ == Form::plain) {
      return fmt::format("{}\t{}\t{}\t{}\t{}", to_text(event.at), safe(event.unit),
                         safe(event.consumer), safe(event.provider), what);
    }
    return fmt::format("{}  {:<{}}  {:<{}}  {}",
                       form_ == Form::wide ? to_text(event.at) : clock_text(event.at), safe(who),
                       unit_width_, safe(between), between_width_, what);
  }

  std::string step_text(const driver::Event& event) {
    using fabric::UnitStep;
    const bool begins = *event.step == UnitStep::asked || *event.step == UnitStep::draining;
    const auto [at, is_new] = began_.try_emplace(event.unit, event.at);
    if (begins) at->second = event.at;
    if (*event.step == UnitStep::gone) began_.erase(event.unit);
    const Duration since = event.at - (begins || is_new ? event.at : at->second);
    if (begins || is_new) return std::string(to_text(*event.step));
    return fmt::format("{:<9} +{}.{:03} s", to_text(*event.step), since.ms / 1000, since.ms % 1000);
  }

  static std::string trouble_text(const driver::Event& event) {
    if (!event.trouble) return {};
    const char* how = event.kind == driver::EventKind::mended ? "mended" : "trouble";
    return fmt::format("{}: {}: {}", how, safe(event.trouble->thing), safe(event.trouble->reason));
  }

  Form form_;
  size_t unit_width_ = 0;
  size_t between_width_ = 0;
  std::map<std::string, Instant> began_;
};

class Watcher : public Reopened<driver::Following> {
 public:
  Watcher(Session& session, Form form, std::optional<int64_t> after, wire::Then<void> done)
      : Reopened(session, "driver watch", std::move(done)),
        client_(session.channel()),
        lines_(form),
        after_(after) {}

 private:
  std::unique_ptr<driver::Following> open_stream() override {
    const auto alive = this->alive<Watcher>();
    driver::FollowCalls calls;
    calls.on_open = [alive] { alive([](Watcher& self) { self.is_open(); }); };
    calls.on_event = [alive](const driver::Event& event) {
      alive([&event](Watcher& self) {
        self.after_ = event.sequence;
        self.lines_.print(event);
      });
    };
    calls.on_end = [alive](const Error& why) { alive([&](Watcher& self) { self.on_end(why); }); };
    return client_.follow(after_, std::move(calls));
  }

  void on_end(const Error& why) {
    if (why.code != Code::gone) return open_again_or_finish(why);
    complain(why.message());
    after_ = 0;
    open_later(milliseconds(0));
  }

  driver::DriverClient client_;
  Lines lines_;
  std::optional<int64_t> after_;
};

struct WatchArguments {
  Asking asking;
  int64_t after = -1;
};

Status watch(const WatchArguments& arguments, Session& session) {
  const auto after =
      arguments.after < 0 ? std::optional<int64_t>() : std::optional(arguments.after);
  return read_reopened<Watcher>(session, arguments.asking.form(), after);
}

}  // namespace

void add_driver_watch(Word verb) {
  auto arguments = std::make_shared<WatchArguments>();
  const Word word = verb.add("watch", "Steps of units and troubles, as they happen");
  word.option("--after", arguments->after, "After this number; 0: all that is kept (from now on)")
      .not_negative();
  add_driver_asking(word, arguments->asking);
  word.examples(
      "  spillway driver watch --dir ./driver/operator\n"
      "  spillway driver watch --after 0 -o json --dir ./driver/operator | jq -r .step\n");
  word.run([arguments] {
    return with_session("driver watch", arguments->asking,
                        [&](Session& session) { return watch(*arguments, session); });
  });
}

}  // namespace spillway::cli
