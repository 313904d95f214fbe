#include "sim/journal.h"

#include <gtest/gtest.h>

#include "market/record_codec.h"
#include "support/sample_records.h"

namespace spillway::sim {
namespace {

using namespace test;

host::Commit commit_of(int n) {
  host::Commit commit;
  commit.at = k_sample_time + seconds(n);
  commit.puts = {{market::key_of(sample_pool_id(n)), shared(sample_pool(n))},
                 {market::key_of(sample_contract_id(n)), shared(sample_contract(n))},
                 {market::request_key(sample_cluster(n), "old"), {}}};
  commit.events = {sample_event(n)};
  return commit;
}

std::string text_of(const host::Commit& commit) {
  std::string text = to_text(commit.at);
  for (const host::Put& put : commit.puts) {
    text += fmt::format("\n{} {} {}", to_text(put.key.kind), put.key.id,
                        market::is_absent(put.record) ? "deleted" : market::encode(put.record));
  }
  for (const market::Event& event : commit.events) text += "\n" + market::encode(event);
  return text;
}

TEST(Journal, ReadsBackWhatWasWritten) {
  std::string bytes;
  for (int i = 1; i <= 3; ++i) bytes += frame(commit_of(i));
  const Recovered recovered = recover(bytes);
  EXPECT_EQ(recovered.torn_bytes, 0u);
  ASSERT_EQ(recovered.commits.size(), 3u);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(text_of(recovered.commits[static_cast<size_t>(i) - 1]), text_of(commit_of(i)));
  }
}

TEST(Journal, ACutAnywhereLeavesTheWholeFramesAndNothingElse) {
  std::string bytes;
  std::vector<size_t> ends;
  for (int i = 1; i <= 3; ++i) {
    bytes += frame(commit_of(i));
    ends.push_back(bytes.size());
  }
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    const Recovered recovered = recover(std::string_view(bytes).substr(0, cut));
    size_t whole = 0;
    while (whole < ends.size() && ends[whole] <= cut) ++whole;
    ASSERT_EQ(recovered.commits.size(), whole) << "cut at " << cut;
    ASSERT_EQ(recovered.torn_bytes, cut - (whole == 0 ? 0 : ends[whole - 1])) << "cut at " << cut;
  }
}

TEST(Journal, AFrameWithAWrongByteAndAllAfterItAreDropped) {
  const std::string first = frame(commit_of(1));
  const std::string second = frame(commit_of(2));
  for (size_t at = 0; at < second.size(); ++at) {
    std::string bytes = first + second + frame(commit_of(3));
    bytes[first.size() + at] = static_cast<char>(bytes[first.size() + at] ^ 1);
    ASSERT_EQ(recover(bytes).commits.size(), 1u) << "byte " << at;
  }
}

TEST(Journal, NothingIsNothing) {
  EXPECT_TRUE(recover("").commits.empty());
  EXPECT_TRUE(recover("\n\n\n").commits.empty());
  EXPECT_TRUE(recover("99999999999999999999 x\n").commits.empty());
}

}  // namespace
}  // namespace spillway::sim
