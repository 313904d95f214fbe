#include "cli/demo_ear.h"

namespace spillway::cli {
namespace {

constexpr auto k_ear_patience = std::chrono::seconds(5);

}  // namespace

Result<std::unique_ptr<Ear>> Ear::open(Session& session) {
  std::unique_ptr<Ear> ear(new Ear(session));
  const Status opened = session.wait<void>([ear = ear.get()](const wire::Then<void>& then) {
    wire::EventCalls calls;
    calls.on_open = [then] { then({}); };
    calls.on_event = [notes = ear->notes_](const wire::EventBody& event) {
      const std::lock_guard lock(notes->mutex);
      notes->all.push_back({clock_now(), event.kind, event.subject});
      notes->more.notify_one();
    };
    calls.on_end = [then](const Error& why, const wire::SnapshotAnswer*) {
      then(tl::unexpected(why));
    };
    ear->stream_ = ear->session_.broker().follow(-1, std::move(calls));
  });
  if (!opened) return tl::unexpected(opened.error());
  return ear;
}

Ear::~Ear() {
  session_.wait<void>([this](const wire::Then<void>& then) {
    stream_.reset();
    then({});
  });
}

Result<Moment> Ear::heard(const std::string& kind, const std::string& subject, Moment since) {
  const Moment until = since + k_ear_patience;
  std::unique_lock lock(notes_->mutex);
  size_t next = 0;
  while (true) {
    for (; next < notes_->all.size(); ++next) {
      const Heard& heard = notes_->all[next];
      if (heard.at >= since && heard.kind == kind && heard.subject == subject) return heard.at;
    }
    const bool came =
        notes_->more.wait_until(lock, until, [&] { return next < notes_->all.size(); });
    if (!came) {
      return fail(Code::unavailable, subject, "no event " + kind + " came", "try again");
    }
  }
}

}  // namespace spillway::cli
