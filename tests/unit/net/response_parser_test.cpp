#include <gtest/gtest.h>

#include "net/http_parser.h"

namespace spillway::net {
namespace {

constexpr ParseLimits k_limits{1024, 64};

std::string feed_in_steps(ResponseParser& parser, std::string_view text, size_t step) {
  std::string held;
  for (size_t at = 0; at < text.size(); at += step) {
    held += text.substr(at, step);
    if (parser.state() == Parsed::head || parser.state() == Parsed::body) {
      held.erase(0, parser.feed(held));
    }
  }
  return held;
}

class ResponseText : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(InPieces, ResponseText, testing::Values(1, 3, 7, 10'000));

TEST_P(ResponseText, IsReadWithALength) {
  ResponseParser parser(k_limits, false);
  const auto rest = feed_in_steps(
      parser, "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nA: b\r\n\r\nhimore", GetParam());
  ASSERT_EQ(parser.state(), Parsed::done);
  EXPECT_EQ(parser.response().status, 201);
  EXPECT_EQ(*find_header(parser.response().headers, "a"), "b");
  EXPECT_EQ(parser.take_body(), "hi");
  EXPECT_EQ(rest, "more");
  EXPECT_TRUE(parser.keeps_alive());
}

TEST_P(ResponseText, IsReadInChunks) {
  ResponseParser parser(k_limits, false);
  feed_in_steps(parser,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                GetParam());
  ASSERT_EQ(parser.state(), Parsed::done);
  EXPECT_EQ(parser.take_body(), "abcde");
  EXPECT_FALSE(parser.keeps_alive());
}

TEST_P(ResponseText, MayBePrecededByContinue) {
  ResponseParser parser(k_limits, false);
  feed_in_steps(parser,
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
                "HTTP/1.1 204 No Content\r\n\r\n",
                GetParam());
  ASSERT_EQ(parser.state(), Parsed::done);
  EXPECT_EQ(parser.response().status, 204);
  EXPECT_TRUE(parser.response().headers.empty());
}

TEST_P(ResponseText, MayEndWithTheConnection) {
  ResponseParser parser(k_limits, false);
  feed_in_steps(parser, "HTTP/1.1 200 OK\r\n\r\nto the end", GetParam());
  EXPECT_EQ(parser.state(), Parsed::body);
  parser.end_of_input();
  ASSERT_EQ(parser.state(), Parsed::done);
  EXPECT_EQ(parser.take_body(), "to the end");
}

TEST_P(ResponseText, HasALimitOnItsBody) {
  ResponseParser parser(k_limits, false);
  feed_in_steps(parser, "HTTP/1.1 200 OK\r\n\r\n" + std::string(100, 'x'), GetParam());
  EXPECT_EQ(parser.state(), Parsed::refused);
  ResponseParser other(k_limits, false);
  feed_in_steps(other, "HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n", GetParam());
  EXPECT_EQ(other.state(), Parsed::refused);
}

TEST_P(ResponseText, HasNoLimitOnAStream) {
  ResponseParser parser(k_limits, false);
  parser.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  ASSERT_EQ(parser.state(), Parsed::body);
  parser.stream_body();
  std::string text;
  for (int i = 0; i < 50; ++i) text += "a\r\n0123456789\r\n";
  feed_in_steps(parser, text, GetParam());
  EXPECT_EQ(parser.state(), Parsed::body);
  EXPECT_EQ(parser.take_body().size(), 500U);
}

TEST(ResponseParser, NoticesTruncation) {
  for (const std::string_view text :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", "HTTP/1.1 200 OK\r\nConte",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde"}) {
    ResponseParser parser(k_limits, false);
    parser.feed(text);
    parser.end_of_input();
    EXPECT_EQ(parser.state(), Parsed::refused) << text;
  }
}

TEST(ResponseParser, ExpectsNoBodyAfterAHead) {
  ResponseParser parser(k_limits, true);
  parser.feed("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
  EXPECT_EQ(parser.state(), Parsed::done);
}

}  // namespace
}  // namespace spillway::net
