// DriverClient: a driver's routes as calls, over any Channel. A refusal comes back as the Error
// that the driver made.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/channel.h"
#include "services/driver/documents.h"

namespace spillway::driver {

// Where a stream of events stands. Dropping it closes the stream.
class Following {
 public:
  virtual ~Following() = default;
};

struct FollowCalls {
  std::function<void()> on_open;
  std::function<void(const Event&)> on_event;
  // Once. `gone`: the driver does not have what was missed any more.
  std::function<void(const Error&)> on_end;
};

struct UnitsAsked {
  std::string consumer = {};  // empty: of any
  std::string provider = {};  //
  std::string after = {};
  int32_t limit = 1000;
};

class DriverClient {
 public:
  template <class T>
  using Then = std::function<void(Result<T>)>;

  explicit DriverClient(net::Channel& channel) : channel_(channel) {}

  void order(const std::string& unit, const UnitOrder& order, Then<UnitDocument> then);
  void end(const std::string& unit, Then<UnitDocument> then);
  void get_unit(const std::string& unit, Then<UnitDocument> then);
  void list_units(const UnitsAsked& asked, Then<UnitPage> then);
  void keep(const std::string& peering, const PeeringOrder& order, Then<PeeringDocument> then);
  void close(const std::string& peering, Then<PeeringDocument> then);
  void list_peerings(const UnitsAsked& asked, Then<PeeringPage> then);
  // None: from now on; 0: all that is kept.
  std::unique_ptr<Following> follow(std::optional<int64_t> after, FollowCalls calls);

 private:
  net::Channel& channel_;
};

}  // namespace spillway::driver
