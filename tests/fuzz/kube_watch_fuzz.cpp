// Any bytes as the stream of a watch, in pieces of any size: they tell of the same changes as in
// one piece, nothing vanishes that was not there, the server is not stormed, and when it says at
// last that all this is forgotten, what is told is what it lists and nothing else.
//
// The first byte chooses the size of the pieces.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "kube/watch.h"
#include "support/manual_loop.h"
#include "support/scripted_channel.h"

namespace spillway::kube {
namespace {

constexpr std::string_view k_list =
    R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"namespace":"s","name":"a"}},)"
    R"({"metadata":{"namespace":"s","name":"b"}}]})";
constexpr size_t k_most_asked = 60;  // in two minutes

class Listener {
 public:
  Listener() {
    channel_.script = [this](const net::Request& request) -> std::optional<Result<net::Response>> {
      const bool is_watch = request.target.find("watch=true") != std::string::npos;
      if (!is_watch) return net::Response{200, {}, std::string(k_list)};
      return net::Response{has_forgotten_ ? 410 : 200, {}, ""};
    };
    watch_.start();
    loop_.run();
  }

  void feed(std::string_view bytes, size_t piece) {
    for (size_t at = 0; at < bytes.size(); at += piece) channel_.stream(bytes.substr(at, piece));
  }
  // Everything ends; the next stream does not come about.
  void recover() {
    has_forgotten_ = true;
    channel_.end({Code::unavailable, "stream", "it ended", ""});
    loop_.run_for(seconds(60));
    has_forgotten_ = false;
    loop_.run_for(seconds(60));
  }
  void check_recovered() const {
    SPILLWAY_CHECK((there_ == std::set<Name>{{"s", "a"}, {"s", "b"}}),
                   "it knows what is not there");
    SPILLWAY_CHECK(watch_.size() == there_.size(), "names are kept of what is gone");
    SPILLWAY_CHECK(channel_.has_stream(), "it does not follow");
    SPILLWAY_CHECK(channel_.asked.size() < k_most_asked, "a storm");
  }
  const std::vector<std::string>& told() const { return told_; }

 private:
  void put(const Object& object) {
    there_.insert(key_of(object));
    told_.push_back(fmt::format("{}/{} {}", space_in(object), name_in(object), version_in(object)));
  }
  void gone(const Name& name) {
    SPILLWAY_CHECK(there_.erase(name) == 1, "something vanished that was not there");
    told_.push_back(fmt::format("{}/{} gone", name.space, name.name));
  }

  test::ManualLoop loop_;
  host::SeededRandom random_{7};
  test::ScriptedChannel channel_{loop_};
  Api api_{loop_, random_, channel_, {}};
  bool has_forgotten_ = false;
  std::set<Name> there_;
  std::vector<std::string> told_;
  Watch watch_{
      api_,
      k_pods,
      {},
      {[this](const Object& object) { put(object); }, [this](const Name& name) { gone(name); }}};
};

void check(std::string_view bytes, size_t piece) {
  Listener whole;
  whole.feed(bytes, bytes.size() + 1);
  Listener pieces;
  pieces.feed(bytes, piece);
  SPILLWAY_CHECK(whole.told() == pieces.told(), "pieces of it mean other changes");
  for (Listener* one : {&whole, &pieces}) {
    one->recover();
    one->check_recovered();
  }
}

}  // namespace
}  // namespace spillway::kube

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  spillway::kube::check({reinterpret_cast<const char*>(data) + 1, size - 1},
                        static_cast<size_t>(data[0] % 32) + 1);
  return 0;
}
