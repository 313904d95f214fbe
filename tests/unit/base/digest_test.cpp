#include "base/digest.h"

#include <gtest/gtest.h>

namespace spillway {
namespace {

TEST(Digest, OfNothingIsTheOffsetBasisOfFnv1a) {
  EXPECT_EQ(to_hex(Digest{}.value()), "6c62272e07bb014262b821756295c58d");
}

TEST(Digest, TellsSequencesApart) {
  const auto of = [](auto... parts) {
    Digest digest;
    (digest.add(parts), ...);
    return digest.value();
  };
  using View = std::string_view;
  EXPECT_EQ(of(View("ab"), View("c")), of(View("ab"), View("c")));
  EXPECT_NE(of(View("ab"), View("c")), of(View("a"), View("bc")));
  EXPECT_NE(of(View("")), of(int64_t{0}));
  EXPECT_NE(of(View("")), of(View(""), View("")));
  EXPECT_NE(of(int64_t{1}), of(int64_t{256}));
}

}  // namespace
}  // namespace spillway
