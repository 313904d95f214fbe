// Files with secrets in them: mode 0600, small, replaced as a whole.
//
// A write goes to <path>.new, is synced, renamed and the folder synced: whoever is killed anywhere
// leaves the old content or the new one. A leftover <path>.new is overwritten by the next write.
// Writers of the same path in several processes wait for each other.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pki/secret.h"

namespace spillway::pki {

// The steps of a write, in order. A probe is asked before each; its error ends the write there.
// Only tests have one: to fail, or to die, at every step.
enum class WriteStep { open, write, sync_file, rename, sync_folder };
using WriteProbe = std::function<Status(WriteStep)>;

enum class Existing { replace, refuse };

// With an error from the last step (Code::unavailable) the new content is there, but a power cut
// might still undo it. After any other error the path holds what it held before.
Status write_private(const std::string& path, std::string_view bytes,
                     Existing existing = Existing::replace, const WriteProbe& probe = {});

// anyone: for content that is encrypted, or public.
enum class Readers { owner_only, anyone };

// Larger than any key, certificate or list of them.
inline constexpr size_t k_most_private_bytes = size_t{1} << 20;

// Refuses what others may read, with the chmod that mends it; what is no regular file; and what is
// larger than that.
Result<Secret> read_private(const std::string& path, Readers readers = Readers::owner_only,
                            size_t most_bytes = k_most_private_bytes);

// Makes the folder with mode 0700; one that is there must be closed to others. Its parent must be
// there.
Status make_private_folder(const std::string& path);
Status check_private_folder(const std::string& path);

}  // namespace spillway::pki
