// Lifeline: for objects that hand out callbacks and may be gone before these are called.
#pragma once

#include <memory>
#include <utility>

namespace spillway::host {

class Lifeline {
 public:
  // A callback that does nothing once the owner of this lifeline is gone.
  template <class F>
  auto guard(F f) const {
    return [alive = std::weak_ptr<const bool>(alive_), f = std::move(f)](auto&&... args) {
      if (!alive.expired()) f(std::forward<decltype(args)>(args)...);
    };
  }

 private:
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace spillway::host
