// The demo: the same hour of load on two clusters that buy in markets of the same making, one
// without an eye on cost and one with.
#pragma once

#include <string>

#include "cli/demo_run.h"
#include "cli/demo_screen.h"

namespace spillway::cli {

struct PlayOptions {
  int32_t speed = 36;   // how much faster the Cluster Autoscaler's clock runs
  std::string profile;  // of the recommender; empty: the Cluster Autoscaler's own price expander
};

class Play {
 public:
  Play(Stage& stage, PlayOptions options);

  void tell_banner() const;
  Status play();
  const DemoFederation& aware() const { return aware_; }

 private:
  Status gather();
  void tell_market() const;
  Status open_runs();
  Status watch();
  Result<Seen> look(Instant until);
  void note_reasons();
  void tell_results() const;

  PlayOptions options_;
  DemoFederation unaware_;
  DemoFederation aware_;
  std::unique_ptr<DemoRun> unaware_run_;
  std::unique_ptr<DemoRun> aware_run_;
  FastTime time_;
  Seen last_;
  std::string reasons_;  // of the first purchase
};

}  // namespace spillway::cli
