// The load of the demo: replicas of a Deployment that rise and fall linearly, as the paper's do.
#pragma once

#include "base/time.h"
#include "kube/api.h"
#include "model/resources.h"

namespace spillway::cli {

inline constexpr Duration k_load_rises = minutes(20);
inline constexpr Duration k_load_falls = minutes(20);
inline constexpr Duration k_load_counted = hours(1);  // until the last node is given back, too
inline constexpr int32_t k_most_replicas = 16;
inline constexpr const char* k_load_space = "shop";  // which the buyer lets leave

int32_t replicas_at(Duration since_begun);
model::Resources replica_requests();

// The Deployment, in a namespace of its own. It follows what is wanted; the first error is kept.
class Load {
 public:
  explicit Load(kube::Api& api) : api_(api) {}

  void create();
  bool is_there() const { return is_there_; }
  void want(int32_t replicas);
  int32_t wanted() const { return wanted_; }
  const Status& problem() const { return problem_; }

 private:
  void create_deployment();
  void scale();

  kube::Api& api_;
  bool is_there_ = false;
  bool is_asking_ = false;
  int32_t wanted_ = 0;
  int32_t told_ = 0;
  Status problem_;
  host::Lifeline life_;
};

}  // namespace spillway::cli
