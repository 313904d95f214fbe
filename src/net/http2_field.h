// A header field as nghttp2 wants it: the bytes stay the caller's, and must outlive the call.
#pragma once

#include <string_view>

#include <nghttp2/nghttp2.h>

namespace spillway::net {

inline nghttp2_nv http2_field(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace spillway::net
