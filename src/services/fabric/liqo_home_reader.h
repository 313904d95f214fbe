// LiqoHomeReader: reads who this cluster is to Liqo until it knows: Liqo may come later than we do,
// and an API server may be away. Until then nothing is bought. It goes on looking, now and then: a
// Liqo that was installed anew has another key.
#pragma once

#include <functional>
#include <optional>

#include "host/backoff.h"
#include "host/lifeline.h"
#include "host/random.h"
#include "services/agent/signing.h"
#include "services/fabric/liqo_home.h"
#include "services/log.h"

namespace spillway::agent {

class LiqoHomeReader {
 public:
  static constexpr Duration k_look_again = minutes(1);

  LiqoHomeReader(
      kube::Api& api, host::Random& random, services::Log& log,
      std::function<void(const LiqoHome&)> known = [](const LiqoHome&) {});

  void start() { read(); }
  const std::optional<LiqoHome>& home() const { return home_; }
  Signing::FabricOf fabric_of();  // no longer than this lives

 private:
  void read();
  void read_after(Duration wait);
  void take(LiqoHome home);

  kube::Api& api_;
  host::Random& random_;
  services::Log& log_;
  std::function<void(const LiqoHome&)> known_;
  std::optional<LiqoHome> home_;
  host::Backoff backoff_;
  bool is_waiting_ = false;
  uint64_t turn_ = 0;
  kube::Api::Listening back_;
  host::Lifeline life_;
};

}  // namespace spillway::agent
