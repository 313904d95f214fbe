#include "kube/token_source.h"

#include "kube/small_file.h"

namespace spillway::kube {
namespace {

bool is_space(char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; }

// A header is made of it: nothing but what a token has.
bool is_token(std::string_view text) {
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7f) return false;
  }
  return !text.empty();
}

}  // namespace

void FileToken::get(Then then) {
  const Instant now = loop_.now();
  const bool is_fresh = read_at_ <= now && now - read_at_ < k_keep;
  if (!token_.empty() && is_fresh) return then(token_);
  auto text = read_small_file(path_);
  if (!text) return then(tl::unexpected(std::move(text).error()));
  while (!text->empty() && is_space(text->back())) text->pop_back();
  if (!is_token(*text)) {
    return then(fail(Code::invalid, "token file " + path_, "there is no token in it",
                     "look who writes that file"));
  }
  token_ = std::move(*text);
  read_at_ = now;
  then(token_);
}

}  // namespace spillway::kube
