// The story that the demo tells, chapter by chapter.
#pragma once

#include "cli/demo_trade.h"

namespace spillway::cli {

class Story {
 public:
  explicit Story(DemoFederation& federation) : federation_(federation), trade_(federation) {}
  Status play();

 private:
  Status gather();
  Status await_sale();
  Status rise();
  Status follow_owner();
  Status await_free(const Seller& seller, int units);
  Status change_price();
  Status lose_broker();
  Status tell_dark();
  Status await_return(Moment since, int64_t epoch, int connected);
  Status ebb();

  DemoFederation& federation_;
  Trade trade_;
};

}  // namespace spillway::cli
