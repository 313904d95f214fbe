// A secret as a text that only a passphrase opens, and that cannot be changed unnoticed: scrypt
// (128 MiB, so that guessing is dear) and AES-256-GCM, in one PEM block.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "pki/secret.h"

namespace spillway::pki {

Result<std::string> seal(std::string_view bytes, std::string_view passphrase);
Result<Secret> unseal(std::string_view text, std::string_view passphrase);

}  // namespace spillway::pki
