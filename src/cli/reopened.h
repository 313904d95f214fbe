// Reopened: a stream that somebody reads for as long as they like. One that breaks is opened again
// where it ended, after a pause that grows; one that was never there, or whose server will not have
// us, is an answer.
//
// Lives on the connection's thread. What is under way holds it; the stream does not, for it is
// dropped first.
#pragma once

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/safe_text.h"
#include "cli/session.h"

namespace spillway::cli {

template <class Stream>
class Reopened : public std::enable_shared_from_this<Reopened<Stream>> {
 public:
  virtual ~Reopened() = default;
  void open() { stream_ = open_stream(); }

 protected:
  // `verb` is what complaints begin with.
  Reopened(Session& session, std::string_view verb, wire::Then<void> done)
      : session_(session), verb_(verb), done_(std::move(done)) {}

  virtual std::unique_ptr<Stream> open_stream() = 0;

  // For the stream's calls: they may come when nobody waits any more.
  template <class Self>
  auto alive() {
    return [weak = this->weak_from_this()](auto use) {
      if (const auto self = weak.lock(); self && self->done_) use(static_cast<Self&>(*self));
    };
  }

  void is_open() {
    has_opened_ = true;
    pause_ = k_pause;
  }

  void complain(std::string_view what) const {
    fmt::print(stderr, "spillway {}: {}\n", verb_, safe(what));
  }

  void open_again_or_finish(const Error& why) {
    if (!has_opened_ || !describe(why.code).not_now) return finish(tl::unexpected(why));
    complain(fmt::format("{}; trying again in {}", why.message(), to_text(pause_)));
    open_later(pause_);
    pause_ = std::min(Duration{pause_.ms * 2}, k_longest_pause);
  }

  // Never from within a call of the stream's own: it is dropped here.
  void open_later(Duration pause) {
    session_.after(pause, [self = this->shared_from_this()] {
      self->stream_.reset();
      if (self->done_) self->open();
    });
  }

  void finish(Status status) {
    session_.after(milliseconds(0),
                   [self = this->shared_from_this(), done = std::exchange(done_, nullptr), status] {
                     self->stream_.reset();
                     done(status);
                   });
  }

  Session& session_;

 private:
  static constexpr Duration k_pause = seconds(1);
  static constexpr Duration k_longest_pause = seconds(30);

  std::string_view verb_;
  wire::Then<void> done_;
  bool has_opened_ = false;
  Duration pause_ = k_pause;
  std::unique_ptr<Stream> stream_;
};

// Until it ends, which may be never. It outlives its stream, which it drops first.
template <class Reader, class... Args>
Status read_reopened(Session& session, const Args&... args) {
  std::shared_ptr<Reader> reader;
  return session.wait<void>([&](wire::Then<void> then) {
    reader = std::make_shared<Reader>(session, args..., std::move(then));
    reader->open();
  });
}

}  // namespace spillway::cli
