#include <gtest/gtest.h>

#include "net/http_parser.h"

namespace spillway::net {
namespace {

constexpr ParseLimits k_small{256, 64};

// Byte by byte, or all at once, the outcome must be the same.
struct Outcome {
  Parsed state = Parsed::head;
  int status = 0;
  Request request;
  std::string rest;
  bool keeps_alive = false;
};

Outcome parse(std::string_view text, size_t step, const ParseLimits& limits = k_small) {
  RequestParser parser(limits);
  std::string held;
  size_t at = 0;
  while (at < text.size() && (parser.state() == Parsed::head || parser.state() == Parsed::body)) {
    const std::string_view part = text.substr(at, step);
    at += part.size();
    held += part;
    held.erase(0, parser.feed(held));
  }
  Outcome outcome;
  outcome.state = parser.state();
  if (outcome.state == Parsed::refused) outcome.status = parser.refusal().status;
  if (outcome.state == Parsed::done) {
    outcome.keeps_alive = parser.keeps_alive();
    outcome.request = parser.take();
    outcome.rest = held + std::string(text.substr(at));
  }
  return outcome;
}

class RequestText : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(InPieces, RequestText, testing::Values(1, 2, 3, 5, 7, 64, 10'000));

TEST_P(RequestText, IsReadInPiecesOfAnySize) {
  const auto outcome = parse(
      "POST /v1/x?a=b HTTP/1.1\r\nHost: h\r\nX-Some: \t value \r\nContent-Length: 5\r\n\r\nhello"
      "GET / HTTP/1.1\r\n",
      GetParam());
  ASSERT_EQ(outcome.state, Parsed::done);
  EXPECT_EQ(outcome.request.method, "POST");
  EXPECT_EQ(outcome.request.target, "/v1/x?a=b");
  EXPECT_EQ(*find_header(outcome.request.headers, "x-some"), "value");
  EXPECT_EQ(outcome.request.body, "hello");
  EXPECT_EQ(outcome.rest, "GET / HTTP/1.1\r\n");
  EXPECT_TRUE(outcome.keeps_alive);
}

TEST_P(RequestText, MayComeInChunksWithExtensionsAndTrailers) {
  const auto outcome = parse(
      "PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n1;ext=\"q\"\r\nd\r\n0\r\nTrailer: t\r\n\r\nrest",
      GetParam());
  ASSERT_EQ(outcome.state, Parsed::done);
  EXPECT_EQ(outcome.request.body, "abcd");
  EXPECT_EQ(find_header(outcome.request.headers, "Trailer"), nullptr);
  EXPECT_EQ(outcome.rest, "rest");
}

TEST_P(RequestText, EndsWithAnEmptyLastChunk) {
  const auto outcome = parse(
      "PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", GetParam());
  EXPECT_EQ(outcome.state, Parsed::done);
  EXPECT_EQ(outcome.request.body, "");
}

struct Bad {
  std::string_view text;
  int status;
};

TEST_P(RequestText, IsRefusedWhenItIsMalformedOrSmuggles) {
  const std::vector<Bad> all = {
      {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n", 501},
      {"GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
       400},
      {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x3\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: h\n\n\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 400},
      {"GET /a\tb HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"GET http://x/ HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"BREW / HTTP/1.1\r\nHost: h\r\n\r\n", 501},
      {"CONNECT / HTTP/1.1\r\nHost: h\r\n\r\n", 501},
      {"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", 400},
      {"PUT / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\n\r\n", 417},
      {"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nmore", 400},
      {"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n", 400},
      {"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 65\r\n\r\n", 413},
      {"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n", 400},
  };
  for (const Bad& bad : all) {
    const auto outcome = parse(bad.text, GetParam());
    EXPECT_EQ(outcome.state, Parsed::refused) << bad.text;
    EXPECT_EQ(outcome.status, bad.status) << bad.text;
  }
}

TEST_P(RequestText, HasALimitOnTheWholeHead) {
  std::string text = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 40; ++i) text += "X: 0123456789\r\n";
  EXPECT_EQ(parse(text, GetParam()).status, 431);
  EXPECT_EQ(parse("GET /" + std::string(300, 'a'), GetParam()).status, 431);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(300, 'a'), GetParam()).status,
            431);
}

TEST_P(RequestText, HasALimitOnTheNumberOfFields) {
  std::string text = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 101; ++i) text += "a:b\r\n";
  EXPECT_EQ(parse(text + "\r\n", GetParam(), {16 * 1024, 64}).status, 431);
}

TEST_P(RequestText, HasALimitOnChunkedBodiesAndTheirOverhead) {
  const std::string head = "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string body;
  for (int i = 0; i < 70; ++i) body += "1\r\nx\r\n";
  EXPECT_EQ(parse(head + body, GetParam()).status, 413);
  EXPECT_EQ(parse(head + "1;" + std::string(400, 'x'), GetParam()).status, 400);
  EXPECT_EQ(parse(head + "0\r\nT: " + std::string(400, 'x'), GetParam()).status, 400);
}

TEST(RequestParser, TreatsHttp10AsOneOff) {
  RequestParser parser(k_small);
  parser.feed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  ASSERT_EQ(parser.state(), Parsed::done);
  EXPECT_TRUE(parser.is_http_1_0());
  EXPECT_FALSE(parser.keeps_alive());
}

TEST(RequestParser, SaysWhenTheClientWaitsForA100) {
  RequestParser parser(k_small);
  parser.feed("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n");
  ASSERT_EQ(parser.state(), Parsed::body);
  EXPECT_TRUE(parser.expects_continue());
}

TEST(RequestParser, SaysWhenTheClientWillClose) {
  RequestParser parser(k_small);
  parser.feed("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  ASSERT_EQ(parser.state(), Parsed::done);
  EXPECT_FALSE(parser.keeps_alive());
}

}  // namespace
}  // namespace spillway::net
