#include "kube/watch.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "kube/failure.h"
#include "market/mutants.h"
#include "model/json.h"

namespace spillway::kube {
namespace {

constexpr int k_most_stuck = 3;
constexpr int k_most_gone = 3;              // once or twice is part of the protocol
constexpr Duration k_early = seconds(2);    // a stream that ends so long before its time is on time
constexpr Duration k_at_once = seconds(2);  // no server comes back from a backup so fast
constexpr Duration k_longest_hurry = seconds(2);         // between short ones that told something
constexpr Duration k_longest_pause = milliseconds(200);  // between streams that end in good order

std::string key_text(std::string_view space, std::string_view name) {
  return fmt::format("{}/{}", space, name);
}

// Versions are opaque, but all API servers count. What does not look like a count is never before.
bool is_before(std::string_view a, std::string_view b) {
  const auto is_count = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!is_count(a) || !is_count(b)) return false;
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

Name name_from(const std::string& key) {
  const size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace

Watch::Watch(Api& api, Resource resource, Wanted wanted, WatchCalls calls)
    : api_(api),
      resource_(std::move(resource)),
      wanted_(std::move(wanted)),
      calls_(std::move(calls)),
      back_(api.when_back([this] { hurry(); })) {}

template <class F>
auto Watch::heard(F then) {
  return life_.guard([this, turn = turn_, then = std::move(then)](auto&&... what) {
    if (turn == turn_) then(std::forward<decltype(what)>(what)...);
  });
}

void Watch::start() { go_on(); }

void Watch::go_on() {
  ++turn_;
  is_waiting_ = false;
  stream_.reset();
  lines_ = {};
  if (must_list()) return list();
  take_up();
}

bool Watch::must_list() const {
  return version_.empty() || (is_in_doubt_ && doubt_left() <= Duration{});
}

// Bounded: a clock that was set back does not make it longer.
Duration Watch::doubt_left() const {
  return std::min(listed_ + k_doubt - api_.loop().now(), k_doubt);
}

// Who does not answer at once may have gone back meanwhile, however the stream before it ended.
void Watch::take_up() {
  const Instant asked = api_.loop().now();
  api_.version(resource_, wanted_, heard([this, asked](const Result<std::string>& now) {
                 const bool is_at_once = now && api_.loop().now() - asked < k_at_once;
                 is_in_doubt_ = is_in_doubt_ || !is_at_once;
                 if (!now) return fail(now.error());
                 if (!is_before(*now, version_)) return follow();
                 version_.clear();
                 list();
               }));
}

void Watch::list() {
  ++counts_.lists;
  api_.list(resource_, wanted_, heard([this](ListPage page) { take_page(std::move(page)); }),
            heard([this](const Result<std::string>& version) {
              if (!version) return fail(version.error());
              finish_list(*version);
            }));
}

void Watch::take_page(ListPage page) {
  if (page.is_first) ++list_;
  for (const Object& object : page.items) {
    put(object);
    if (is_full_) return fail(too_many());
  }
}

void Watch::finish_list(const std::string& version) {
  if (version.empty()) {
    return fail({Code::unavailable, to_text(resource_, {wanted_.space, {}}),
                 "the list has no version", "look whether this is an API server"});
  }
  std::vector<Name> vanished;
  for (const auto& [key, seen_in] : known_) {
    const bool is_there = seen_in == list_ || market::mutant(market::Mutant::forget_vanished);
    if (!is_there) vanished.push_back(name_from(key));
  }
  for (const Name& name : vanished) {
    known_.erase(key_text(name.space, name.name));
    calls_.on_gone(name);
  }
  version_ = version;
  stuck_ = 0;
  listed_ = api_.loop().now();
  is_in_doubt_ = false;
  is_synced_ = true;
  calls_.on_synced();
  follow();
}

void Watch::follow() {
  ++counts_.streams;
  has_moved_ = false;
  refused_.reset();
  opened_ = api_.loop().now();
  net::StreamCalls calls;
  calls.on_head = heard([this](const net::Response& head) { on_head(head); });
  calls.on_bytes = heard([this](std::string_view bytes) { on_bytes(bytes); });
  calls.on_end = heard([this](const Error& why) { end(why); });
  lasts_ = host::between(api_.random(), minutes(5), minutes(10));
  if (is_in_doubt_) api_.loop().after(doubt_left(), heard([this] { go_on(); }));
  api_.watch(resource_, wanted_, version_, lasts_, std::move(calls),
             heard([this](std::unique_ptr<net::Reading> stream) { stream_ = std::move(stream); }));
}

void Watch::on_head(const net::Response& head) {
  if (head.status == 200) {
    opened_ = api_.loop().now();
    // One that has sent us away again and again has to say something first.
    if (gone_ < k_most_gone) tell_open();
    return;
  }
  if (head.status == 401) api_.forget_token();
  refused_ = failure_of(head, to_text(resource_, {wanted_.space, {}}));
  end(*refused_);
}

void Watch::tell_open() {
  is_told_ = false;
  calls_.on_open();
}

void Watch::on_bytes(std::string_view bytes) {
  if (lines_.feed(bytes, [this](std::string_view line) { return take_line(line); })) return;
  if (!refused_) {
    refused_ = Error{Code::unavailable, to_text(resource_, {wanted_.space, {}}),
                     "what it streams is no list of changes", "try again"};
  }
  end(*refused_);
}

bool Watch::take_line(std::string_view line) {
  const auto change =
      model::parse_json(line, "change", Lines::k_longest, model::k_max_foreign_depth);
  if (!change) return false;
  const Object* object = model::look(*change, {"object"});
  const std::string type(model::text_at(*change, {"type"}));
  if (object == nullptr || object->kind != Object::Kind::object) return false;
  if (type == "ERROR") {
    refused_ = failure_in(*object, to_text(resource_, {wanted_.space, {}}));
    return false;
  }
  if (type != "ADDED" && type != "MODIFIED" && type != "DELETED" && type != "BOOKMARK")
    return false;
  const std::string_view version = version_in(*object);
  if (version.empty()) return false;
  ++counts_.events;
  has_moved_ = true;
  if (std::exchange(gone_, 0) >= k_most_gone) tell_open();
  take_change(type, *object);
  version_ = version;
  if (!is_full_) return true;
  refused_ = too_many();
  version_.clear();
  return false;
}

void Watch::take_change(const std::string& type, const Object& object) {
  if (type == "BOOKMARK") return;
  if (type == "DELETED") return gone(object);
  put(object);
}

// More than any cluster has: then nothing is known, and that is said.
Error Watch::too_many() const {
  return {Code::invalid, to_text(resource_, {wanted_.space, {}}),
          fmt::format("there are more than {}", k_most_objects),
          "look whether this is an API server"};
}

// What no API server has is passed over: a namespace with a slash would make two names one, and
// long names cost as much memory as the server likes.
bool Watch::takes(const Object& object) {
  const std::string_view name = name_in(object);
  const std::string_view space = space_in(object);
  return !name.empty() && name.size() <= k_longest_name && space.size() <= k_longest_name &&
         space.find('/') == std::string_view::npos;
}

void Watch::put(const Object& object) {
  if (!takes(object)) return;
  const std::string key = key_text(space_in(object), name_in(object));
  is_full_ = known_.size() >= k_most_objects && !known_.contains(key);
  if (is_full_) return;
  known_[key] = list_;
  calls_.on_put(object);
}

void Watch::gone(const Object& object) {
  if (known_.erase(key_text(space_in(object), name_in(object))) > 0) calls_.on_gone(key_of(object));
}

// Streams are never dropped inside of their own calls. However one ends, the next one begins where
// it ended; unless there is nothing to be had from there any more.
void Watch::end(const Error& why) {
  const bool is_settled = api_.loop().now() - opened_ >= k_settled;
  if (has_moved_) {
    stuck_ = 0;
  } else if (refused_ || !is_settled) {
    ++stuck_;
  }
  // Only the server says that the place is gone: a stream that ended in good order is "gone", too.
  const bool is_expired = refused_ && refused_->code == Code::gone;
  if (is_expired || stuck_ >= k_most_stuck) version_.clear();
  if (api_.loop().now() - opened_ < lasts_ - k_early) is_in_doubt_ = true;
  // Only time shows that all is well: a server that says a word and hangs up is not hurried to.
  if (is_settled) {
    backoff_.reset();
    gone_ = 0;
  }
  if (refused_) return fail(why);
  if (!is_settled && !has_moved_) return why.code == Code::gone ? back_off(why) : fail(why);
  if (is_settled) return go_on_after(host::between(api_.random(), {}, k_longest_pause));
  go_on_after(backoff_.next(api_.random(), k_longest_hurry));
}

void Watch::fail(const Error& why) {
  gone_ = why.code == Code::gone ? std::min(gone_ + 1, k_most_gone) : 0;
  const bool is_usual = gone_ > 0 && gone_ < k_most_gone;
  if (!is_usual && !std::exchange(is_told_, true)) calls_.on_trouble(why);
  back_off(why);
}

void Watch::back_off(const Error& why) {
  const bool is_refused = why.code == Code::denied || why.code == Code::invalid;
  is_waiting_ = true;
  go_on_after(
      backoff_.next(api_.random(), is_refused ? host::k_refused_wait : host::k_longest_wait));
}

// With some time between those that wait for the same server.
void Watch::hurry() {
  const Instant now = api_.loop().now();
  const bool is_again = hurried_ && *hurried_ <= now && now - *hurried_ < k_hurried;
  if (!is_waiting_ || is_again) return;
  hurried_ = now;
  go_on_after(host::between(api_.random(), {}, k_longest_pause));
}

void Watch::go_on_after(Duration wait) {
  ++turn_;
  api_.loop().post(heard([this] { stream_.reset(); }));
  api_.loop().after(wait, heard([this] { go_on(); }));
}

}  // namespace spillway::kube
