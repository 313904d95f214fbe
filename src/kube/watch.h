// Watch: all objects of a resource, as they are and as they change, for as long as it lives.
//
// It lists, then follows the changes from the version of the list. A stream that ends is taken up
// again where it ended; bookmarks keep that place fresh. When the server no longer has that place
// (410), or nothing comes from there, it lists again and tells what vanished meanwhile: whoever
// listens needs no case of its own for any of this. Tries have growing, differing waits.
//
// A server that comes back from an old backup gives versions again that it has given before: who
// goes on from one of these misses what happened up to it, and is never told. So it is asked for
// its version before a stream is taken up; and should it have passed ours by then, a stream that
// breaks before its time, or cannot be taken up at once, leaves a doubt: within k_doubt of the last
// list there is another one.
//
// Of the objects only their names are kept. Do not destroy a Watch from within its calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "host/backoff.h"
#include "host/lifeline.h"
#include "kube/api.h"
#include "kube/lines.h"

namespace spillway::kube {

struct WatchCalls {
  std::function<void(const Object&)> on_put;  // is there: new, changed, or as it was
  std::function<void(const Name&)> on_gone;   // only what on_put has told of
  std::function<void()> on_synced = [] {};    // a list is complete
  // The server cannot be followed: once, until on_open says that it can be again.
  std::function<void(const Error&)> on_trouble = [](const Error&) {};
  std::function<void()> on_open = [] {};  // changes are followed
};

struct WatchCounts {
  uint64_t lists = 0;
  uint64_t streams = 0;
  uint64_t events = 0;
};

class Watch {
 public:
  static constexpr size_t k_most_objects = 200'000;
  static constexpr size_t k_longest_name = 253;  // Kubernetes' own bound, of namespaces too
  static constexpr Duration k_doubt = minutes(5);
  static constexpr Duration k_settled = seconds(5);  // a stream that lived so long was no accident
  // So often what waits may go on before its time, because the server has answered somebody else:
  // one that answers every other time is not asked more often than others for it.
  static constexpr Duration k_hurried = seconds(30);

  Watch(Api& api, Resource resource, Wanted wanted, WatchCalls calls);

  // False: it has a name that no API server gives, and is passed over.
  static bool takes(const Object& object);

  void start();
  bool is_synced() const { return is_synced_; }
  bool is_in_trouble() const { return is_told_; }
  size_t size() const { return known_.size(); }
  const WatchCounts& counts() const { return counts_; }

 private:
  void list();
  void take_page(ListPage page);
  void finish_list(const std::string& version);
  void take_up();
  void follow();
  void tell_open();
  void on_head(const net::Response& head);
  void on_bytes(std::string_view bytes);
  bool take_line(std::string_view line);
  void take_change(const std::string& type, const Object& object);
  void put(const Object& object);
  void gone(const Object& object);
  Error too_many() const;
  void end(const Error& why);
  void go_on();
  bool must_list() const;
  Duration doubt_left() const;
  void go_on_after(Duration wait);
  void hurry();
  void fail(const Error& why);
  void back_off(const Error& why);
  template <class F>
  auto heard(F then);

  Api& api_;
  Resource resource_;
  Wanted wanted_;
  WatchCalls calls_;
  std::unordered_map<std::string, uint32_t> known_;  // name → the list that it was last seen in
  uint32_t list_ = 0;
  std::string version_;  // empty: list first
  uint64_t turn_ = 0;    // what an earlier stream or timer still says is not heard
  Lines lines_;
  Instant opened_;
  Duration lasts_;  // of this stream, as the server was asked
  Instant listed_;  // the last time
  bool is_in_doubt_ = false;
  bool is_synced_ = false;
  bool has_moved_ = false;        // the stream has told something
  bool is_told_ = false;          // of the trouble
  bool is_full_ = false;          // more objects than are taken
  int stuck_ = 0;                 // streams from the same version that told nothing
  int gone_ = 0;                  // times in a row that the server had no such place any more
  std::optional<Error> refused_;  // why the stream is of no use
  WatchCounts counts_;
  host::Backoff backoff_;
  std::unique_ptr<net::Reading> stream_;
  bool is_waiting_ = false;  // to go on, after a failure
  std::optional<Instant> hurried_;
  Api::Listening back_;
  host::Lifeline life_;
};

}  // namespace spillway::kube
