// Controller: looks again at whatever has changed, in the loop's next turn. It remembers nothing of
// what it did: it looks at what is there, and does what is missing.
#pragma once

#include <functional>
#include <set>
#include <utility>

#include "embedded/liqo/setting.h"
#include "embedded/turn.h"

namespace spillway::embedded::liqo {

class Controller {
 public:
  explicit Controller(const Setting& setting)
      : s_(setting), turn_(setting.loop, [this] { work(); }) {}
  virtual ~Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

 protected:
  virtual void look_at(const Key& key) = 0;

  void look_soon(Key key) {
    changed_.insert(std::move(key));
    turn_.soon();
  }
  void look_after(Duration delay, const Key& key) {
    s_.loop.after(delay, lifeline_.guard([this, key] { look_soon(key); }));
  }
  // Changes of that kind; `then` says what is to be looked at.
  void follow(const codec::Kind& kind, std::function<void(const Object&)> then) {
    s_.objects.table.listen(
        [wanted = &s_.kind(kind), then = std::move(then)](const Change& change) {
          if (change.object->kind == wanted) then(*change.object);
        });
  }
  void follow(const codec::Kind& kind) {
    follow(kind, [this](const Object& object) { look_soon(object.key); });
  }

  const Setting& s_;
  host::Lifeline lifeline_;

 private:
  void work() {
    for (const Key& key : std::exchange(changed_, {})) look_at(key);
  }

  std::set<Key> changed_;
  Turn turn_;
};

}  // namespace spillway::embedded::liqo
