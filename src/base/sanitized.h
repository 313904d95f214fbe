// Whether this was built with a sanitizer: g++ says so by macros, clang by features.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPILLWAY_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SPILLWAY_IS_SANITIZED 1
#endif
#endif

namespace spillway {

#ifdef SPILLWAY_IS_SANITIZED
inline constexpr bool k_is_sanitized = true;
#else
inline constexpr bool k_is_sanitized = false;
#endif

}  // namespace spillway

#undef SPILLWAY_IS_SANITIZED
