// An embedded cluster on a loop whose time the test moves, and a caller without a socket.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "embedded/cluster.h"
#include "host/random.h"
#include "model/json.h"
#include "model/tree.h"
#include "support/manual_loop.h"
#include "support/memory_exchange.h"

namespace spillway::test {

inline const std::string k_maps = "/api/v1/namespaces/default/configmaps";
inline const std::string k_pods = "/api/v1/namespaces/default/pods";

struct Told {
  int status = 0;
  model::Node body;
  net::Headers headers;
  std::string_view text(model::Path path) const { return model::text_at(body, path); }
  int64_t number(model::Path path) const { return model::integer_at(body, path, -1); }
  size_t count(model::Path path) const { return model::items_at(body, path).size(); }
};

struct Seen {
  std::string type;
  model::Node object;
  std::string name() const { return std::string(model::text_at(object, {"metadata", "name"})); }
};

class EmbeddedWorld {
 public:
  explicit EmbeddedWorld(embedded::ClusterOptions options = open_to_all())
      : cluster(loop, random, std::move(options)) {}

  static embedded::ClusterOptions open_to_all() {
    embedded::ClusterOptions options;
    options.trusts_strangers = true;
    return options;
  }

  std::shared_ptr<MemoryExchange> send(std::string method, std::string target,
                                       std::string body = {}, std::string type = {}) {
    net::Request request{std::move(method), std::move(target), headers, std::move(body)};
    if (type.empty()) type = "application/json";
    if (!request.body.empty()) request.headers.push_back({"Content-Type", type});
    auto exchange = std::make_shared<MemoryExchange>();
    cluster.handler().handle(std::move(request), {"test:1", nullptr}, exchange);
    return exchange;
  }

  Told ask(std::string method, std::string target, std::string body = {}, std::string type = {}) {
    const auto exchange =
        send(std::move(method), std::move(target), std::move(body), std::move(type));
    for (int i = 0; i < 100 && !exchange->response; ++i) loop.run_for(milliseconds(100));
    EXPECT_TRUE(exchange->response.has_value());
    if (!exchange->response) return {};
    return told(*exchange->response);
  }
  Told get(std::string target) { return ask("GET", std::move(target)); }
  Told post(std::string target, std::string body) {
    return ask("POST", std::move(target), std::move(body));
  }
  Told put(std::string target, std::string body) {
    return ask("PUT", std::move(target), std::move(body));
  }
  Told merge(std::string target, std::string body) {
    return ask("PATCH", std::move(target), std::move(body), "application/merge-patch+json");
  }
  Told erase(std::string target, std::string body = {}) {
    return ask("DELETE", std::move(target), std::move(body));
  }

  static Told told(const net::Response& response) {
    Told told{response.status, {}, response.headers};
    auto parsed = model::parse_json(response.body, "answer", size_t{64} << 20, 128);
    if (parsed) told.body = std::move(*parsed);
    return told;
  }

  // The whole lines of a watch so far.
  static std::vector<Seen> events(const MemoryExchange& watch) {
    std::vector<Seen> seen;
    std::string_view rest = watch.body->bytes;
    for (size_t end = 0; (end = rest.find('\n')) != std::string_view::npos;) {
      const auto event = model::parse_json(rest.substr(0, end), "event", size_t{1} << 20, 128);
      EXPECT_TRUE(event.has_value()) << rest.substr(0, end);
      if (!event) break;
      const model::Node* object = model::look(*event, {"object"});
      seen.push_back({std::string(model::text_at(*event, {"type"})),
                      object != nullptr ? *object : model::Node{}});
      rest.remove_prefix(end + 1);
    }
    return seen;
  }

  ManualLoop loop;
  host::SeededRandom random{1};
  net::Headers headers;  // of every request
  embedded::Cluster cluster;
};

inline std::string pod_text(std::string_view name, std::string_view more_spec = {},
                            std::string_view labels = "{}") {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","labels":{}}},)"
      R"("spec":{{"containers":[{{"name":"main","image":"registry.example/app:1"}}]{}}}}})",
      name, labels, more_spec);
}

inline std::string config_text(std::string_view name, std::string_view value = "1") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{{"value":"{}"}}}},"data":{{"value":"{}"}}}})", name,
      value, value);
}

inline embedded::ClusterOptions with_nodes(int count) {
  auto options = EmbeddedWorld::open_to_all();
  options.nodes = count;
  return options;
}

}  // namespace spillway::test
