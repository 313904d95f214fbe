#include "services/driver/driver_client.h"

#include <utility>

#include <fmt/format.h>

#include "model/codec.h"
#include "net/sse.h"
#include "services/wire/broker_client.h"

namespace spillway::driver {
namespace {

constexpr size_t k_max_answer = size_t{16} << 20;

net::Request request(std::string method, std::string target, std::string body = {}) {
  net::Request made{std::move(method), std::move(target), {}, std::move(body)};
  made.headers.push_back({"Accept", "application/json"});
  if (!made.body.empty()) made.headers.push_back({"Content-Type", "application/json"});
  return made;
}

std::string unit_path(const std::string& unit) { return "/v1/units/" + net::escape_segment(unit); }

std::string peering_path(const std::string& peering) {
  const std::string consumer(owner_of(peering));
  const std::string provider = peering.substr(std::min(consumer.size() + 1, peering.size()));
  return fmt::format("/v1/peerings/{}/{}", net::escape_segment(consumer),
                     net::escape_segment(provider));
}

std::string query_of(const UnitsAsked& asked) {
  std::string query = fmt::format("?limit={}", asked.limit);
  const auto add = [&query](std::string_view name, const std::string& value) {
    if (!value.empty()) query += fmt::format("&{}={}", name, net::escape_segment(value));
  };
  add("consumer", asked.consumer);
  add("provider", asked.provider);
  add("after", asked.after);
  return query;
}

template <class T>
void ask(net::Channel& channel, net::Request what, DriverClient::Then<T> then) {
  channel.send(std::move(what), [then = std::move(then)](const Result<net::Response>& response) {
    if (!response) return then(tl::unexpected(response.error()));
    if (response->status >= 300) return then(tl::unexpected(wire::error_of(*response)));
    then(model::read_json<T>(response->body,
                             model::Heading{.what = "answer", .max_bytes = k_max_answer}));
  });
}

// The pieces hold each other: the reading's callbacks name this object, and it owns the reading.
class EventReader final : public Following {
 public:
  explicit EventReader(FollowCalls calls)
      : calls_(std::move(calls)),
        parser_([this](const net::SseEvent& event) { on_event(event); }) {}

  void open(net::Channel& channel, net::Request what) {
    reading_ = channel.open(std::move(what), {[this](const net::Response& head) { on_head(head); },
                                              [this](std::string_view bytes) { on_bytes(bytes); },
                                              [this](const Error& why) { end(why); }});
  }

 private:
  void on_head(const net::Response& head) {
    if (head.status != 200) return end(wire::error_of(head));
    is_open_ = true;
    calls_.on_open();
  }
  void on_bytes(std::string_view bytes) {
    if (!is_open_ || is_ended_ || parser_.feed(bytes)) return;
    end({Code::invalid, "event stream", "it is not one, or has a line without end",
         "look whether this address is a Spillway driver"});
  }
  void on_event(const net::SseEvent& event) {
    if (is_ended_) return;
    const auto read = model::read_json<Event>(event.data, "event");
    if (!read) return end(read.error());
    calls_.on_event(*read);
  }
  // Last: whoever hears of it may drop this object.
  void end(const Error& why) {
    if (std::exchange(is_ended_, true)) return;
    const auto on_end = calls_.on_end;
    on_end(why);
  }

  FollowCalls calls_;
  net::SseParser parser_;
  bool is_open_ = false;
  bool is_ended_ = false;
  std::unique_ptr<net::Reading> reading_;
};

}  // namespace

void DriverClient::order(const std::string& unit, const UnitOrder& order, Then<UnitDocument> then) {
  ask(channel_, request("PUT", unit_path(unit), model::write_json(order)), std::move(then));
}
void DriverClient::end(const std::string& unit, Then<UnitDocument> then) {
  ask(channel_, request("DELETE", unit_path(unit)), std::move(then));
}
void DriverClient::get_unit(const std::string& unit, Then<UnitDocument> then) {
  ask(channel_, request("GET", unit_path(unit)), std::move(then));
}
void DriverClient::list_units(const UnitsAsked& asked, Then<UnitPage> then) {
  ask(channel_, request("GET", "/v1/units" + query_of(asked)), std::move(then));
}
void DriverClient::keep(const std::string& peering, const PeeringOrder& order,
                        Then<PeeringDocument> then) {
  ask(channel_, request("PUT", peering_path(peering), model::write_json(order)), std::move(then));
}
void DriverClient::close(const std::string& peering, Then<PeeringDocument> then) {
  ask(channel_, request("DELETE", peering_path(peering)), std::move(then));
}
void DriverClient::list_peerings(const UnitsAsked& asked, Then<PeeringPage> then) {
  ask(channel_, request("GET", "/v1/peerings" + query_of(asked)), std::move(then));
}

std::unique_ptr<Following> DriverClient::follow(std::optional<int64_t> after, FollowCalls calls) {
  net::Request what = request("GET", "/v1/events");
  what.headers[0].value = "text/event-stream";
  if (after) what.headers.push_back({"Last-Event-ID", fmt::format("{}", *after)});
  auto reader = std::make_unique<EventReader>(std::move(calls));
  reader->open(channel_, std::move(what));
  return reader;
}

}  // namespace spillway::driver
