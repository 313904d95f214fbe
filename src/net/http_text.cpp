#include "net/http_text.h"

#include <array>
#include <charconv>
#include <ctime>

#include <fmt/format.h>

#include "net/ascii.h"

namespace spillway::net {
namespace {

void append_number(std::string& out, size_t number, int base = 10) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, base).ptr;
  out.append(text.data(), end);
}

// A line break in a value would be a new field, or a new answer: whatever follows it is left out.
void append_headers(std::string& out, const Headers& headers) {
  for (const Header& header : headers) {
    const std::string_view value(header.value);
    const std::string_view name(header.name);
    out.append(name.substr(0, name.find_first_of("\r\n:")));
    out += ": ";
    out.append(value.substr(0, value.find_first_of("\r\n")));
    out += "\r\n";
  }
}

}  // namespace

const std::string& DateField::at(Instant now) {
  const int64_t second = now.ms / 1000;
  if (second == second_) return text_;
  second_ = second;
  const auto time = static_cast<std::time_t>(second);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  constexpr std::array<std::string_view, 7> k_days = {"Sun", "Mon", "Tue", "Wed",
                                                      "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> k_months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  text_ = fmt::format("Date: {}, {:02} {} {} {:02}:{:02}:{:02} GMT\r\n",
                      k_days[static_cast<size_t>(parts.tm_wday)], parts.tm_mday,
                      k_months[static_cast<size_t>(parts.tm_mon)], parts.tm_year + 1900,
                      parts.tm_hour, parts.tm_min, parts.tm_sec);
  return text_;
}

void append_response(std::string& out, const Response& response, Framing framing, bool keeps_alive,
                     const std::string& date) {
  const bool has_body = response.status >= 200 && response.status != 204 && response.status != 304;
  out.reserve(out.size() + 256 + (framing == Framing::length ? response.body.size() : 0));
  out += "HTTP/1.1 ";
  append_number(out, static_cast<size_t>(response.status));
  out += ' ';
  out += reason_phrase(response.status);
  out += "\r\n";
  out += date;
  append_headers(out, response.headers);
  if (framing == Framing::chunked) {
    out += "Transfer-Encoding: chunked\r\n";
  } else if (framing != Framing::to_end && has_body) {
    out += "Content-Length: ";
    append_number(out, response.body.size());
    out += "\r\n";
  }
  if (!keeps_alive) out += "Connection: close\r\n";
  out += "\r\n";
  if (framing == Framing::length && has_body) out += response.body;
}

void append_request(std::string& out, const Request& request, std::string_view host) {
  out += request.method;
  out += ' ';
  out += request.target;
  out += " HTTP/1.1\r\nHost: ";
  out += host;
  out += "\r\n";
  append_headers(out, request.headers);
  const bool has_body = !request.body.empty() || request.method == "POST" ||
                        request.method == "PUT" || request.method == "PATCH";
  if (has_body) {
    out += "Content-Length: ";
    append_number(out, request.body.size());
    out += "\r\n";
  }
  out += "\r\n";
  out += request.body;
}

void append_chunk(std::string& out, std::string_view bytes) {
  if (bytes.empty()) return;  // an empty chunk would be the last
  append_number(out, bytes.size(), 16);
  out += "\r\n";
  out += bytes;
  out += "\r\n";
}

}  // namespace spillway::net
