#include "cli/follow.h"

#include <cstdio>

#include "cli/documents.h"
#include "cli/reopened.h"
#include "cli/yaml_text.h"

namespace spillway::cli {
namespace {

void print_event(Form form, const wire::EventBody& event) {
  if (form == Form::json) {
    fmt::print("{}\n", safe_json(json_of(event)));
  } else if (form == Form::yaml) {
    fmt::print("---\n{}", yaml_of_json(json_of(event)).value_or(std::string()));
  } else {
    const char* between = form == Form::plain ? "\t" : "  ";
    fmt::print("{}{}{}{}{}{}{}", event.sequence, between, to_text(event.at), between,
               safe(event.kind), between, safe(event.subject));
    if (!event.buyer.empty()) fmt::print("{}{}", between, safe(event.buyer.text));
    fmt::print("{}{}\n", between, safe(event.detail));
  }
  std::fflush(stdout);  // whoever reads it from a pipe waits for it
}

class Follower : public Reopened<wire::EventStream> {
 public:
  Follower(Session& session, Form form, int64_t after, int64_t limit, wire::Then<void> done)
      : Reopened(session, "events", std::move(done)), form_(form), after_(after), left_(limit) {}

 private:
  std::unique_ptr<wire::EventStream> open_stream() override {
    const auto alive = this->alive<Follower>();
    wire::EventCalls calls;
    calls.on_open = [alive] { alive([](Follower& self) { self.is_open(); }); };
    calls.on_event = [alive](const wire::EventBody& event) {
      alive([&event](Follower& self) { self.on_event(event); });
    };
    calls.on_end = [alive](const Error& why, const wire::SnapshotAnswer* snapshot) {
      alive([&](Follower& self) { self.on_end(why, snapshot); });
    };
    return session_.broker().follow(after_, std::move(calls));
  }

  void on_event(const wire::EventBody& event) {
    after_ = event.sequence;
    print_event(form_, event);
    if (left_ > 0 && --left_ == 0) finish({});
  }

  void on_end(const Error& why, const wire::SnapshotAnswer* snapshot) {
    if (snapshot == nullptr) return open_again_or_finish(why);
    complain(fmt::format("{}: what came before {} is no longer kept", why.reason,
                         snapshot->sequence + 1));
    after_ = snapshot->sequence;
    open_later(milliseconds(0));
  }

  Form form_;
  int64_t after_;
  int64_t left_;
};

}  // namespace

Status follow_events(Session& session, Form form, int64_t after, int64_t limit) {
  return read_reopened<Follower>(session, form, after, limit);
}

}  // namespace spillway::cli
