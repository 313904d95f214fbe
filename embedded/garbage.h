// Garbage: what is owned goes when its last owner is gone (background deletion), before it
// (foreground), or is set free (orphan).
#pragma once

#include <map>
#include <set>
#include <string>

#include "embedded/objects.h"
#include "embedded/turn.h"

namespace spillway::embedded {

class Garbage {
 public:
  Garbage(Objects& objects, host::Loop& loop);

 private:
  // Ordered by numbers, not by addresses, which differ from run to run.
  struct Place {
    const Kind* kind;
    Key key;
    bool operator<(const Place& other) const {
      return kind != other.kind ? kind->number < other.kind->number : key < other.key;
    }
  };

  void hear(const Change& change);
  void work();
  bool has_owner(const Object& object) const;
  void collect(const Place& place);
  // Of owners that wait for their dependents; true: nothing holds them any more.
  bool release_dependents(const Object& owner);
  bool delete_dependents(const Object& owner);
  std::set<Place> dependents_of(const std::string& uid) const;

  Objects& objects_;
  std::map<std::string, std::set<Place>> dependents_;  // by the owner's uid
  std::set<std::string> alive_;                        // uids of all objects
  std::set<Place> suspects_;                           // an owner of theirs may be gone
  std::set<Place> waiting_;                            // owners in the middle of their deletion
  Turn turn_;
};

}  // namespace spillway::embedded
