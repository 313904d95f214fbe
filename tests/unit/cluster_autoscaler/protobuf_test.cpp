#include "cluster_autoscaler/protobuf.h"

#include <gtest/gtest.h>

namespace spillway::cluster_autoscaler {
namespace {

std::vector<ProtoField> fields_of(std::string_view bytes, bool& is_broken) {
  std::vector<ProtoField> all;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.next(field);) all.push_back(field);
  is_broken = reader.is_broken();
  return all;
}

// The examples of the encoding's own description.
TEST(Protobuf, WritesAsTheStandardShows) {
  EXPECT_EQ(ProtoWriter().integer(1, 150).str(), std::string("\x08\x96\x01", 3));
  EXPECT_EQ(ProtoWriter().text(2, "testing").str(), std::string("\x12\x07testing", 9));
  EXPECT_EQ(ProtoWriter().message(3, ProtoWriter().integer(1, 150)).str(),
            std::string("\x1a\x03\x08\x96\x01", 5));
  EXPECT_EQ(ProtoWriter().real(1, 1.0).str(), std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
  EXPECT_EQ(ProtoWriter().integer(1, -1).str().size(), 11U);
}

TEST(Protobuf, LeavesOutWhatIsZeroAndKeepsWhatIsThere) {
  EXPECT_EQ(ProtoWriter().integer(1, 0).text(2, "").real(3, 0).boolean(4, false).str(), "");
  EXPECT_EQ(ProtoWriter().message(1, ProtoWriter()).str(), std::string("\x0a\0", 2));
}

TEST(Protobuf, ReadsWhatItWrote) {
  const std::string bytes = ProtoWriter().integer(1, -5).text(2, "x").entry(3, "k", "v").take();
  bool is_broken = true;
  const auto all = fields_of(bytes, is_broken);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_FALSE(is_broken);
  EXPECT_EQ(all[0].integer32(), -5);
  EXPECT_EQ(all[1].bytes, "x");
  EXPECT_EQ(all[2].bytes, std::string("\x0a\1k\x12\1v", 6));
}

TEST(Protobuf, SaysWhatIsNoMessage) {
  for (const std::string& bytes :
       {std::string("\x08", 1), std::string("\x12\x05xy", 4), std::string("\0\1", 2),
        std::string("\x0b", 1), std::string(11, '\xff'), std::string("\x09\1\2", 3),
        std::string("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)}) {
    bool is_broken = false;
    fields_of(bytes, is_broken);
    EXPECT_TRUE(is_broken);
  }
}

}  // namespace
}  // namespace spillway::cluster_autoscaler
