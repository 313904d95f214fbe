// Liqo: a cluster's own, as far as the fabric and its users meet it: its kinds, the handshake,
// slices, virtual nodes, and what one cluster does at another. It is held to recordings of the real
// one (tests/data/liqo); where it differs, it is wrong.
#pragma once

#include <memory>

#include "embedded/access.h"
#include "embedded/api.h"
#include "embedded/liqo/options.h"
#include "embedded/objects.h"
#include "pki/authority.h"

namespace spillway::embedded {

class Liqo {
 public:
  // All of them outlive it. `options.id` is set.
  Liqo(Objects& objects, Access& access, Api& api, host::Loop& loop, LiqoOptions options,
       const pki::Authority& authority);
  ~Liqo();

  // Where this cluster is reached, and how it reaches others, if nobody said so before.
  void listens_at(const std::string& url, Dial dial);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace spillway::embedded
