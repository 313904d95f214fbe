#include "embedded/drops.h"

namespace spillway::embedded {

bool Drops::send(std::string_view bytes) {
  if (is_gone_ || is_closing_) return false;
  queued_ += bytes;
  if (!is_dripping_) drip();
  return !is_gone_;
}

void Drops::close() {
  is_closing_ = true;
  if (!is_dripping_) under_->close();
}

void Drops::drip() {
  const size_t now = std::min(bytes_, queued_.size());
  is_gone_ = !under_->send(std::string_view(queued_).substr(0, now));
  queued_.erase(0, now);
  is_dripping_ = !is_gone_ && !queued_.empty();
  if (is_dripping_) return loop_.after(every_, [self = shared_from_this()] { self->drip(); });
  if (is_closing_ && !is_gone_) under_->close();
}

}  // namespace spillway::embedded
