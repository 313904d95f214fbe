#include "net/http_text.h"

#include <gtest/gtest.h>

#include "net/client.h"

namespace spillway::net {
namespace {

TEST(HttpText, WritesDatesAsHttpWantsThem) {
  DateField date;
  EXPECT_EQ(date.at({784'111'777'000}), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  EXPECT_EQ(date.at({784'111'778'999}), "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n");
}

TEST(HttpText, WritesAnswers) {
  std::string out;
  append_response(out, {200, {{"A", "b"}}, "body"}, Framing::length, true, "Date: x\r\n");
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nDate: x\r\nA: b\r\nContent-Length: 4\r\n\r\nbody");
  out.clear();
  append_response(out, {204, {}, ""}, Framing::length, false, "");
  EXPECT_EQ(out, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  out.clear();
  append_response(out, {200, {}, "body"}, Framing::no_body, true, "");
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
}

TEST(HttpText, LeavesOutWhatWouldBeAnotherField) {
  std::string out;
  append_response(out, {200, {{"A\r\nB", "c\r\nSet-Cookie: d"}}, ""}, Framing::length, true, "");
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nA: c\r\nContent-Length: 0\r\n\r\n");
}

TEST(HttpText, WritesNoEmptyChunk) {
  std::string out;
  append_chunk(out, "");
  EXPECT_EQ(out, "");
  append_chunk(out, std::string(26, 'x'));
  EXPECT_EQ(out, "1a\r\n" + std::string(26, 'x') + "\r\n");
}

TEST(Url, IsTakenApart) {
  EXPECT_EQ(parse_url("https://broker.example:7443")->port, 7443);
  EXPECT_EQ(parse_url("https://broker.example/")->host, "broker.example");
  EXPECT_EQ(parse_url("https://broker.example")->port, 443);
  EXPECT_EQ(parse_url("https://[::1]:7443")->host, "::1");
  EXPECT_EQ(parse_url("https://[::1]:7443")->port, 7443);
  EXPECT_TRUE(parse_url("http://127.0.0.1:9090")->is_plain);
}

TEST(Url, RefusesWhatItIsNot) {
  for (const std::string_view text :
       {"", "broker", "ftp://x", "https://", "https://:1", "https://a:0", "https://a:65536",
        "https://a:x", "https://a:1/path", "https://u@h", "https://[::1", "https://[::1]x",
        "https://a b", "https://a?x"}) {
    EXPECT_FALSE(parse_url(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace spillway::net
