// Any bytes as a question to the expander: it is answered once, a refusal says why, and what is
// answered are options that were shown, in the order of the choice.
//
// The first byte tells how the chooser chooses; the rest is the message.
#include "cluster_autoscaler/expander.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cluster_autoscaler/protobuf.h"

namespace spillway::cluster_autoscaler {
namespace {

// Every n-th of them, from the last to the first; none with 0.
class EveryNth final : public Chooser {
 public:
  explicit EveryNth(size_t n) : n_(n) {}
  std::vector<size_t> choose(const std::vector<Option>& options) override {
    std::vector<size_t> places;
    for (size_t i = options.size(); n_ > 0 && i > 0; i -= std::min(i, n_)) {
      places.push_back(i - 1);
      chosen.push_back(options[i - 1].group.text);
    }
    return places;
  }
  std::vector<std::string> chosen;

 private:
  size_t n_;
};

std::vector<std::string> groups_in(std::string_view answer) {
  std::vector<std::string> groups;
  ProtoReader reader(answer);
  for (ProtoField field; reader.next(field);) {
    std::string group;
    ProtoReader option(field.bytes);
    for (ProtoField part; option.next(part);) {
      if (part.number == 1) group = part.bytes;
    }
    SPILLWAY_CHECK(field.number == 1 && !option.is_broken(), "an option cannot be read");
    groups.push_back(std::move(group));
  }
  SPILLWAY_CHECK(!reader.is_broken(), "the answer cannot be read");
  return groups;
}

void run(uint8_t n, std::string message) {
  EveryNth chooser(n % 4);
  Expander handler(chooser);
  net::GrpcCall call;
  call.method = k_expander_call;
  call.message = std::move(message);
  int answers = 0;
  handler.handle(std::move(call), [&](const net::GrpcAnswer& told) {
    ++answers;
    SPILLWAY_CHECK(told.code == net::GrpcCode::ok || !told.reason.empty(), "it does not say why");
    if (told.code != net::GrpcCode::ok) return;
    SPILLWAY_CHECK(groups_in(told.message) == chooser.chosen, "others than those that were chosen");
  });
  SPILLWAY_CHECK(answers == 1, "a call is answered once");
}

}  // namespace
}  // namespace spillway::cluster_autoscaler

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  spillway::cluster_autoscaler::run(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
