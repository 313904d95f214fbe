// Drops: a Stream whose bytes go out a few at a time: what a congested path does to a body.
#pragma once

#include <memory>
#include <string>

#include "host/loop.h"
#include "net/exchange.h"

namespace spillway::embedded {

class Drops final : public net::Stream, public std::enable_shared_from_this<Drops> {
 public:
  Drops(host::Loop& loop, std::shared_ptr<net::Stream> under, size_t bytes, Duration every)
      : loop_(loop), under_(std::move(under)), bytes_(bytes), every_(every) {}

  bool send(std::string_view bytes) override;
  size_t unsent() const override { return queued_.size() + under_->unsent(); }
  void close() override;  // once all is sent
  void on_gone(std::function<void()> then) override { under_->on_gone(std::move(then)); }

 private:
  void drip();

  host::Loop& loop_;
  std::shared_ptr<net::Stream> under_;
  size_t bytes_;
  Duration every_;
  std::string queued_;
  bool is_dripping_ = false;
  bool is_closing_ = false;
  bool is_gone_ = false;
};

}  // namespace spillway::embedded
