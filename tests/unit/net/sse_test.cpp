#include "net/sse.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace spillway::net {
namespace {

std::vector<SseEvent> events_of(std::string_view text, size_t step) {
  std::vector<SseEvent> events;
  SseParser parser([&](const SseEvent& event) { events.push_back(event); });
  for (size_t at = 0; at < text.size(); at += step) {
    EXPECT_TRUE(parser.feed(text.substr(at, step)));
  }
  return events;
}

class SseText : public testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(InPieces, SseText, testing::Values(1, 2, 3, 1000));

TEST_P(SseText, IsReadWithAnyLineEnd) {
  const std::vector<SseEvent> expected = {{"7", "sold", "a\nb"}, {"7", "message", "c"}};
  EXPECT_EQ(events_of("id: 7\nevent: sold\ndata: a\ndata: b\n\ndata:c\n\n", GetParam()), expected);
  EXPECT_EQ(
      events_of("id: 7\r\nevent: sold\r\ndata: a\r\ndata: b\r\n\r\ndata:c\r\n\r\n", GetParam()),
      expected);
  EXPECT_EQ(events_of("id: 7\revent: sold\rdata: a\rdata: b\r\rdata:c\r\r", GetParam()), expected);
}

TEST_P(SseText, FollowsTheStandardInItsCorners) {
  const std::string_view text =
      "\xEF\xBB\xBF"
      "data\n\ndata:\ndata\n\n:comment\nevent: only\n\nid: 5\n\nretry: 10\nother: x\ndata:  two\n\n"
      "data: unfinished\n";
  const std::vector<SseEvent> expected = {
      {"", "message", ""}, {"", "message", "\n"}, {"5", "message", " two"}};
  EXPECT_EQ(events_of(text, GetParam()), expected);
}

TEST_P(SseText, IsReadAsItWasWritten) {
  const SseEvent event{"12", "lease", "{\"a\":1}\n\n{\"b\":2}"};
  EXPECT_EQ(events_of(write_sse(event) + write_sse_comment("alive") + write_sse(event), GetParam()),
            (std::vector<SseEvent>{event, event}));
}

TEST(Sse, CannotBeBrokenOutOf) {
  EXPECT_EQ(write_sse({"1\ndata: x", "e\r\n\r\n", "a\r\nb\rc"}),
            "id: 1\nevent: e\ndata: a\ndata: b\ndata: c\n\n");
}

TEST(Sse, CountsComments) {
  SseParser parser([](const SseEvent&) { FAIL(); });
  EXPECT_TRUE(parser.feed(":\n\n: alive\n\n"));
  EXPECT_EQ(parser.comments(), 2U);
}

TEST(Sse, HasALimitOnLinesAndEvents) {
  SseParser lines([](const SseEvent&) { FAIL(); }, 64);
  EXPECT_TRUE(lines.feed("data: " + std::string(50, 'x')));
  EXPECT_FALSE(lines.feed(std::string(50, 'x')));
  EXPECT_FALSE(lines.feed("\n\n"));
  SseParser events([](const SseEvent&) { FAIL(); }, 64);
  EXPECT_TRUE(events.feed("data: " + std::string(40, 'x') + "\n"));
  EXPECT_FALSE(events.feed("data: " + std::string(40, 'x') + "\n"));
}

TEST(Sse, ParserMayBeDroppedByItsOwnEvent) {
  std::unique_ptr<SseParser> parser;
  int count = 0;
  parser = std::make_unique<SseParser>([&](const SseEvent&) {
    ++count;
    parser.reset();
  });
  parser->feed("data: a\n\ndata: b\n\n");
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace spillway::net
