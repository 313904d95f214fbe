// What others wrote, on a terminal. A name or a reason that comes from the broker may hold bytes
// that move the cursor, turn the text around or hide part of it: they are shown, not obeyed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spillway::cli {

// Letters of all scripts stay; controls, marks of direction, what has no width and bytes that are
// no UTF-8 become \u{202e} and \xNN.
std::string safe(std::string_view text);

// The same for a JSON document, which stays one: \u202e.
std::string safe_json(std::string_view json);

// How many columns `text` takes on a terminal; `text` is safe.
size_t columns(std::string_view text);

// At most that many columns, with … where it was cut.
std::string cut(std::string_view text, size_t most);

// Without what looks like a token, for messages that repeat what a person typed.
std::string hide_tokens(std::string_view text);

}  // namespace spillway::cli
