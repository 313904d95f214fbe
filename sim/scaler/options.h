// Options: the Cluster Autoscaler's flags, by their names and with their defaults, as far as they
// decide how many nodes there are.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace spillway::scaler {

enum class Expander : uint8_t { random, least_waste, price, grpc };

// What changed between the two that we compare with, as far as node counts go. 1.35 counts a node
// that is used exactly at the threshold as unneeded, goes on with its loop after it has removed
// failed instances, after a scale-up and after one that failed, and (by a flag's default) starts
// its next loop as soon as one was productive or a pod was found unschedulable.
enum class Version : uint8_t { v1_30, v1_35 };

struct Options {
  Version version = Version::v1_30;
  Duration scan_interval = seconds(10);
  bool frequent_loops_enabled = false;  // 1.35: true

  // ---- up ----
  Expander expander = Expander::random;  // 1.35: least-waste
  int32_t max_nodes_total = 0;           // 0: any
  int32_t max_nodes_per_scaleup = 1000;
  Duration new_pod_scale_up_delay = {};
  Duration max_node_provision_time = minutes(15);
  Duration max_node_startup_time = minutes(15);
  Duration initial_node_group_backoff_duration = minutes(5);
  Duration max_node_group_backoff_duration = minutes(30);
  Duration node_group_backoff_reset_timeout = hours(3);

  // ---- down ----
  bool scale_down_enabled = true;
  bool scale_down_unready_enabled = true;
  double scale_down_utilization_threshold = 0.5;
  double scale_down_gpu_utilization_threshold = 0.5;
  bool ignore_daemonsets_utilization = false;
  Duration scale_down_unneeded_time = minutes(10);
  Duration scale_down_unready_time = minutes(20);
  Duration scale_down_delay_after_add = minutes(10);
  Duration scale_down_delay_after_delete = {};
  Duration scale_down_delay_after_failure = minutes(3);
  Duration unremovable_node_recheck_timeout = minutes(5);
  int32_t max_scale_down_parallelism = 10;
  int32_t max_drain_parallelism = 1;
  Duration node_delete_delay_after_taint = seconds(5);
  Duration max_graceful_termination = minutes(10);
  Duration max_pod_eviction_time = minutes(2);

  // ---- when to do nothing ----
  double max_total_unready_percentage = 45;
  int32_t ok_total_unready_count = 3;
};

}  // namespace spillway::scaler
