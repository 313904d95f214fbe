// Text as a shell reads it, for lines that people paste.
#pragma once

#include <string>
#include <string_view>

namespace spillway {

// In single quotation marks: one word for bash, zsh and fish, whatever is in it.
std::string shell_quoted(std::string_view text);

// The same, but as it is when nothing in it has a meaning for a shell.
std::string shell_word(std::string_view text);

}  // namespace spillway
