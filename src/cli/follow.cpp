#include "cli/follow.h"

#include <algorithm>
#include <cstdio>

#include "cli/documents.h"
#include "cli/safe_text.h"
#include "cli/yaml_text.h"

namespace spillway::cli {
namespace {

constexpr Duration k_follow_pause = seconds(1);
constexpr Duration k_longest_pause = seconds(30);

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

// Lives on the connection's thread. What is under way holds it; the stream does not, for it is
// dropped first.
class Follower : public std::enable_shared_from_this<Follower> {
 public:
  Follower(Session& session, Form form, int64_t after, int64_t limit, wire::Then<void> done)
      : session_(session), form_(form), after_(after), left_(limit), done_(std::move(done)) {}

  void open() {
    const std::weak_ptr<Follower> weak = weak_from_this();
    const auto alive = [weak](auto use) {
      if (const auto self = weak.lock(); self && self->done_) use(*self);
    };
    wire::EventCalls calls;
    calls.on_open = [alive] { alive([](Follower& self) { self.on_open(); }); };
    calls.on_event = [alive](const wire::EventBody& event) {
      alive([&event](Follower& self) { self.on_event(event); });
    };
    calls.on_end = [alive](const Error& why, const wire::SnapshotAnswer* snapshot) {
      alive([&](Follower& self) { self.on_end(why, snapshot); });
    };
    stream_ = session_.broker().follow(after_, std::move(calls));
  }

 private:
  void on_open() {
    opened_ = true;
    pause_ = k_follow_pause;
  }

  void on_event(const wire::EventBody& event) {
    after_ = event.sequence;
    print_event(form_, event);
    if (left_ > 0 && --left_ == 0) finish({});
  }

  void on_end(const Error& why, const wire::SnapshotAnswer* snapshot) {
    if (snapshot != nullptr) {
      fmt::print(stderr, "spillway events: {}: what came before {} is no longer kept\n",
                 safe(why.reason), snapshot->sequence + 1);
      after_ = snapshot->sequence;
      return open_later(milliseconds(0));
    }
    // A broker that was never reached, or that will not have us, is an answer; one that went away
    // comes back.
    if (!opened_ || !describe(why.code).not_now) return finish(tl::unexpected(why));
    fmt::print(stderr, "spillway events: {}; trying again in {}\n", safe(why.message()),
               to_text(pause_));
    open_later(pause_);
    pause_ = std::min(Duration{pause_.ms * 2}, k_longest_pause);
  }

  // Never from within a call of the stream's own: it is dropped here.
  void open_later(Duration pause) {
    session_.after(pause, [self = shared_from_this()] {
      self->stream_.reset();
      if (self->done_) self->open();
    });
  }

  void finish(Status status) {
    session_.after(milliseconds(0),
                   [self = shared_from_this(), done = std::exchange(done_, nullptr), status] {
                     self->stream_.reset();
                     done(status);
                   });
  }

  Session& session_;
  Form form_;
  int64_t after_;
  int64_t left_;
  wire::Then<void> done_;
  bool opened_ = false;
  Duration pause_ = k_follow_pause;
  std::unique_ptr<wire::EventStream> stream_;
};

}  // namespace

Status follow_events(Session& session, Form form, int64_t after, int64_t limit) {
  std::shared_ptr<Follower> follower;  // outlives its stream: finish() drops that first
  return session.wait<void>([&](wire::Then<void> then) {
    follower = std::make_shared<Follower>(session, form, after, limit, std::move(then));
    follower->open();
  });
}

}  // namespace spillway::cli
