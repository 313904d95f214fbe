// HTTP as its users see it: plain values, no sockets. Handlers and agents are written against
// these, so that the simulator can carry the same messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway::net {

struct Header {
  std::string name;  // as it was sent; compared without regard to case
  std::string value;
  bool operator==(const Header&) const = default;
};

using Headers = std::vector<Header>;

// The first of that name, or null.
const std::string* find_header(const Headers& headers, std::string_view name);

struct Request {
  std::string method = "GET";
  std::string target = "/";  // path and query, as sent
  Headers headers;
  std::string body;
  bool operator==(const Request&) const = default;
};

// Content-Length, Connection and Date are the server's business, not the handler's.
struct Response {
  int status = 200;
  Headers headers;
  std::string body;
  bool operator==(const Response&) const = default;
};

std::string_view reason_phrase(int status);

// "/v1/offers/edge-1/small?after=a%20b" taken apart. Segments and values are percent-decoded;
// false: the target is malformed (bad escape, control character, no leading slash, "." or "..").
struct Target {
  std::vector<std::string> segments;
  std::vector<std::pair<std::string, std::string>> query;
  const std::string* parameter(std::string_view name) const;
};
bool parse_target(std::string_view text, Target& target);
std::string escape_segment(std::string_view text);  // for building targets

}  // namespace spillway::net
