// Any bytes as a core/v1 Pod in protocol buffers: what it asks for lies within what can be counted,
// in order; and whatever the reader makes of bytes means the same when it is written again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cluster_autoscaler/kube_proto.h"
#include "cluster_autoscaler/protobuf.h"

namespace spillway::cluster_autoscaler {
namespace {

bool is_countable(int64_t amount) { return amount >= 0 && amount <= model::k_max_amount; }

void check(const PodAsk& pod) {
  const model::Resources& all = pod.requests;
  SPILLWAY_CHECK(is_countable(all.cpu_millis) && is_countable(all.memory_bytes) &&
                     is_countable(all.storage_bytes) && all.pods == 1 && all.gpus.empty(),
                 "amounts that cannot be counted");
  for (size_t i = 0; i < all.extended.size(); ++i) {
    SPILLWAY_CHECK(is_countable(all.extended[i].amount) && all.extended[i].amount > 0,
                   "an amount that cannot be counted");
    SPILLWAY_CHECK(i == 0 || all.extended[i - 1].name < all.extended[i].name, "out of order");
  }
  for (size_t i = 1; i < pod.labels.size(); ++i) {
    SPILLWAY_CHECK(pod.labels[i - 1].key < pod.labels[i].key, "labels out of order");
  }
}

// The fields that were read, written by the writer; numbers become bytes of text.
std::string written_again(std::string_view bytes) {
  ProtoWriter out;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) {
    SPILLWAY_CHECK(field.number > 0, "a field without a number");
    const bool is_inside = field.bytes.empty() ||
                           (field.bytes.data() >= bytes.data() &&
                            field.bytes.data() + field.bytes.size() <= bytes.data() + bytes.size());
    SPILLWAY_CHECK(is_inside, "a field outside of the message");
    if (field.bytes.empty()) out.integer(field.number, field.integer());
    if (!field.bytes.empty()) out.bytes(field.number, field.bytes);
  }
  return out.take();
}

void run(std::string_view bytes) {
  const std::string once = written_again(bytes);
  SPILLWAY_CHECK(written_again(once) == once, "what was written means something else");
  const auto pod = unmarshal_pod(bytes);
  if (!pod) {
    SPILLWAY_CHECK(!pod.error().message().empty(), "it does not say why");
    return;
  }
  check(*pod);
  SPILLWAY_CHECK(unmarshal_pod(bytes).value() == *pod, "the same bytes are another pod");
}

}  // namespace
}  // namespace spillway::cluster_autoscaler

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  spillway::cluster_autoscaler::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
