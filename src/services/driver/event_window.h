// EventWindow: the last events of a driver, and the streams that follow them. Numbers only ever
// grow, also over restarts, so that whoever comes back with the last number that it saw either
// misses nothing or is told that it has: then it reads what there is, and follows from there.
//
// A stream that does not read is cut; it comes back with its number.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/lifeline.h"
#include "host/loop.h"
#include "net/exchange.h"
#include "services/driver/documents.h"

namespace spillway::driver {

class EventWindow {
 public:
  static constexpr size_t k_most = 4096;  // events that are kept
  static constexpr size_t k_most_unsent = size_t{4} << 20;
  static constexpr Duration k_beat = seconds(15);

  struct Listener {
    std::string name;
    std::function<bool(const Event&)> may_hear;
    Instant not_after;  // of its certificate
  };

  explicit EventWindow(host::Loop& loop);
  void start();  // beats from now on

  void add(Event event);  // its number and time are set here
  // Those of a peering and its units that are new, and those that are mended.
  void add_troubles(const std::string& consumer, const std::string& provider,
                    const std::vector<fabric::Trouble>& before,
                    const std::vector<fabric::Trouble>& now);
  int64_t last() const { return last_; }
  // The numbers after which nothing is missing: from this one on.
  int64_t first_good() const { return events_.empty() ? last_ : events_.front().sequence - 1; }

  void follow(Listener listener, std::shared_ptr<net::Stream> stream, int64_t after);
  size_t streams_of(const std::string& name) const;
  void close_all();

 private:
  struct Open {
    Listener listener;
    std::shared_ptr<net::Stream> stream;
  };

  static bool tell(const Open& open, const Event& event, std::string& text);
  template <class Which>
  void drop_if(Which which);
  void beat_later();

  host::Loop& loop_;
  int64_t last_;
  std::deque<Event> events_;
  std::map<uint64_t, Open> streams_;
  uint64_t next_number_ = 1;
  host::Lifeline life_;
};

}  // namespace spillway::driver
