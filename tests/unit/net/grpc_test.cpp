#include "net/grpc.h"

#include <gtest/gtest.h>

namespace spillway::net {
namespace {

TEST(Grpc, FramesOneMessage) {
  const std::string frame = framed("hello");
  EXPECT_EQ(frame, std::string("\0\0\0\0\5hello", 10));
  EXPECT_EQ(unframed(frame), "hello");
  EXPECT_EQ(unframed(framed("")), "");
}

TEST(Grpc, TakesExactlyOneMessageThatIsNotCompressed) {
  const std::string frame = framed("hello");
  EXPECT_FALSE(unframed(""));
  EXPECT_FALSE(unframed(frame.substr(0, 4)));
  EXPECT_FALSE(unframed(frame.substr(0, 9)));
  EXPECT_FALSE(unframed(frame + frame));
  EXPECT_FALSE(unframed(std::string("\1\0\0\0\0", 5)));
}

TEST(Grpc, ReadsHowLongACallerWaits) {
  EXPECT_EQ(parse_grpc_timeout("5S"), seconds(5));
  EXPECT_EQ(parse_grpc_timeout("4999999u"), milliseconds(4999));
  EXPECT_EQ(parse_grpc_timeout("1n"), milliseconds(1));
  EXPECT_EQ(parse_grpc_timeout("99999999H"), Duration{99'999'999LL * 3'600'000});
  for (const char* text : {"", "S", "5", "-5S", "5s", "123456789m", "5 S"}) {
    EXPECT_FALSE(parse_grpc_timeout(text)) << text;
  }
  EXPECT_EQ(parse_grpc_timeout(grpc_timeout(milliseconds(1500))), milliseconds(1500));
  EXPECT_EQ(parse_grpc_timeout(grpc_timeout(hours(1000))), hours(1000));
}

TEST(Grpc, CarriesAnyTextInAHeader) {
  const std::string text = "offer edge/x: 3 wanted,\n1 is free; 50 % less… ok";
  const std::string encoded = percent_encoded(text);
  EXPECT_EQ(encoded.find('\n'), std::string::npos);
  EXPECT_EQ(percent_decoded(encoded), text);
  EXPECT_EQ(percent_decoded("100%"), "100%");
  EXPECT_EQ(percent_decoded("%zz%4"), "%zz%4");
}

TEST(Grpc, TellsOurErrorsByTheTable) {
  const GrpcAnswer answer = to_grpc({Code::taken, "offer edge/x", "nothing is free", "wait"});
  EXPECT_EQ(answer.code, GrpcCode::resource_exhausted);
  EXPECT_NE(answer.reason.find("nothing is free"), std::string::npos);
}

}  // namespace
}  // namespace spillway::net
