// The annotations by which a test tells nodes and pods of an embedded cluster how to behave.
#pragma once

#include <string_view>

namespace spillway::embedded {

// Of a node: "on" gives it a kubelet that reports and runs pods, "off" silences it. Nodes without
// it have none: nobody reports for them.
inline constexpr std::string_view k_kubelet = "embedded.spillway.dev/kubelet";
// Of a pod: durations as in "1m30s".
inline constexpr std::string_view k_start_after = "embedded.spillway.dev/start-after";
inline constexpr std::string_view k_run_for =
    "embedded.spillway.dev/run-for";  // then it ends by itself
inline constexpr std::string_view k_stop_after = "embedded.spillway.dev/stop-after";
inline constexpr std::string_view k_exit_code = "embedded.spillway.dev/exit-code";
// Of a pod: "false" runs it without ever being ready.
inline constexpr std::string_view k_ready = "embedded.spillway.dev/ready";

}  // namespace spillway::embedded
