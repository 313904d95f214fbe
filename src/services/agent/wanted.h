// What is the same for pools and offers: how a change of what is wanted becomes a message.
#pragma once

#include <set>
#include <vector>

namespace spillway::agent {

// Another content, or the withdrawal (null), is another message and gets another number. False:
// nothing has changed.
template <class Memory, class Noun>
bool note_wanted(Memory& memory, const Noun* wanted) {
  const bool same = wanted == nullptr
                        ? memory.withdrawn
                        : !memory.withdrawn && memory.published && *memory.published == *wanted;
  if (same && memory.sequence > 0) return false;
  memory.sequence += 1;
  memory.withdrawn = wanted == nullptr;
  memory.acknowledged = false;
  if (wanted != nullptr) memory.published = *wanted;
  return true;
}

// All that is wanted, then (with null) all that is remembered and no longer wanted.
template <class Noun, class Memories, class Change>
void for_each_wanted(const std::vector<Noun>& nouns, const Memories& memories, Change change) {
  std::set<typename Memories::key_type> wanted;
  for (const Noun& noun : nouns) {
    wanted.insert(noun.id);
    change(noun.id, &noun);
  }
  for (const auto& entry : memories) {
    if (!wanted.contains(entry.first)) change(entry.first, nullptr);
  }
}

}  // namespace spillway::agent
