// What a program said before it failed, for the reason of an error: its last two lines, short, in
// letters that no terminal obeys, and without what may be a secret.
#pragma once

#include <string>
#include <string_view>

namespace spillway::kube {

// Empty if it said nothing.
std::string last_words(std::string_view complaints);

}  // namespace spillway::kube
