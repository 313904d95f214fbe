// Files that hold a token, a certificate or a kubeconfig: read whole, never more than a megabyte.
#pragma once

#include <string>

#include "base/result.h"

namespace spillway::kube {

Result<std::string> read_small_file(const std::string& path);

}  // namespace spillway::kube
