// The messages of externalgrpc that ask for something; api/externalgrpc.proto lists the fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster_autoscaler/cloud_provider.h"
#include "cluster_autoscaler/protobuf.h"
#include "demand/ledger.h"
#include "model/labels.h"

namespace spillway::cluster_autoscaler {

struct WireNode {
  demand::NodeRef ref;
  model::Labels labels;  // sorted
};

// One for all: which fields a call has follows from its name.
struct Asked {
  std::string group;
  int32_t delta = 0;
  std::vector<WireNode> nodes;
  Window window;
  std::string pod;  // a core/v1 Pod
};

// Where the fields of a request are. 0: it has none such.
struct AskedFields {
  uint32_t group = 0;
  uint32_t delta = 0;
  uint32_t node = 0;
  uint32_t pod_old = 0;
  uint32_t pod = 0;
  uint32_t from_old = 0;
  uint32_t from = 0;
  uint32_t to_old = 0;
  uint32_t to = 0;
};

// None: the bytes are no message.
std::optional<Asked> read_asked(std::string_view bytes, const AskedFields& fields);

ProtoWriter group_message(const OfferId& id, const demand::GroupState& group);
// The messages of all groups, one after the other. Only what has changed is written anew: of a
// thousand groups the texts for people would cost more than all else that the call takes.
class GroupMessages {
 public:
  const std::string& all(const demand::LedgerState& state);

 private:
  struct Entry {
    OfferId id;
    model::Resources shape;
    int32_t most = 0;
    bool is_on_sale = false;
    std::string message;
  };
  static bool is_of(const Entry& entry, const OfferId& id, const demand::GroupState& group);

  std::vector<Entry> entries_;  // in the order of the groups
  std::string all_;
};

ProtoWriter instance_message(const demand::Instance& instance);

}  // namespace spillway::cluster_autoscaler
