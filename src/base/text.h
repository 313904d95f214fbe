// Small questions about text that an outsider wrote: is it UTF-8, how to show it in an error
// without showing all of it, and which known word was probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace spillway {

// Of ASCII alone, whatever the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
constexpr bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || is_digit(c); }

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// True when `text` is UTF-8 without control characters (C0, DEL).
bool is_printable(std::string_view text);

// In quotation marks, cut after 60 bytes, with control characters and bytes that are no UTF-8 as
// \xNN: safe in a log, a terminal and a JSON document.
std::string in_quotes(std::string_view text);

// So many bytes at most, and no half character at the end.
void cut_to(std::string& text, size_t most);

// "a, b, c, …": some of them, where whoever wrote them may have written any number.
std::string name_few(std::span<const std::string> names);

// The candidate that `word` is most likely a slip for (a third of its letters may be wrong, at
// most three); empty when none is close.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace spillway
