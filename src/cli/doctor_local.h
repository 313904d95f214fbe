// The checks that need no broker, and those of the way to it.
#pragma once

#include "cli/doctor.h"

namespace spillway::cli {

Result<std::string> look_at_folder(Examination& examination);
Result<std::string> look_at_certificate(Examination& examination);
Result<std::string> look_at_disk(Examination& examination);
Result<std::string> look_up_name(Examination& examination);
Result<std::string> look_at_tcp(Examination& examination);

}  // namespace spillway::cli
