// LocalSlices: slices as their buyer has them: a request where none was preset, an Identity as soon
// as the provider lets it in, and with the grant a VirtualNode, made or adopted.
#pragma once

#include "embedded/liqo/controller.h"
#include "fabric/liqo/slice.h"

namespace spillway::embedded::liqo {

class LocalSlices final : public Controller {
 public:
  explicit LocalSlices(const Setting& setting);

 private:
  void look_at(const Key& key) override;
  void complete(const Key& key, const codec::Slice& slice) const;
  void make_identity(const Object& object, const codec::Slice& slice) const;
  void settle_virtual_node(const Object& object, const codec::Slice& slice);
};

}  // namespace spillway::embedded::liqo
