// RoundTrips: how far away providers are, as measured from here, where they say an address.
//
// What an address is worth is the provider's word; that something answers there is not. It is asked
// rarely, by few connections at once and for few addresses of a provider: nobody is to be flooded
// by our hand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/lifeline.h"
#include "host/loop.h"
#include "host/random.h"
#include "rank/option.h"
#include "services/autoscaler/market_view.h"

namespace spillway::autoscaler {

class RoundTrips {
 public:
  static constexpr Duration k_every = minutes(5);
  static constexpr int k_tries = 3;  // the shortest counts
  static constexpr int k_most_at_once = 4;
  static constexpr int k_most_of_a_provider = 4;
  static constexpr size_t k_most = 1000;

  // Microseconds to an address; none: it cannot be reached, or may not be asked.
  using Measure =
      std::function<void(const std::string& address, std::function<void(std::optional<int64_t>)>)>;
  RoundTrips(host::Loop& loop, host::Random& random, Measure measure)
      : loop_(loop), random_(random), measure_(std::move(measure)) {}

  void look(const std::vector<Seen>& seen);  // at those that are due
  std::optional<rank::RoundTrip> of(const model::Offer& offer) const;

 private:
  struct Known {
    Instant due;
    bool is_going = false;
    std::optional<rank::RoundTrip> reading;
  };

  void begin(const std::string& address);
  void again(const std::string& address, int left, std::optional<int64_t> best);
  void done(const std::string& address, std::optional<int64_t> micros);

  host::Loop& loop_;
  host::Random& random_;
  Measure measure_;
  std::map<std::string, Known> known_;
  int going_ = 0;
  host::Lifeline life_;
};

}  // namespace spillway::autoscaler
