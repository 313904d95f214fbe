// Times, durations, amounts and ids: what is written reads back.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/ids.h"
#include "base/money.h"
#include "base/text.h"
#include "base/time.h"

namespace spillway {
namespace {

rc::Gen<int64_t> any_number() {
  return rc::gen::oneOf(rc::gen::arbitrary<int64_t>(), rc::gen::inRange(INT64_MIN, INT64_MAX));
}

RC_GTEST_PROP(Instant, ReadsBackWhatItWrote, ()) {
  const Instant t{*rc::gen::inRange(k_first_instant.ms, k_last_instant.ms + 1)};
  RC_ASSERT(parse_instant(to_text(t)).value() == t);
}

RC_GTEST_PROP(Instant, TextIsInOrderOfTime, ()) {
  const Instant a{*rc::gen::inRange<int64_t>(0, k_last_instant.ms / 1000) * 1000};
  const Instant b{*rc::gen::inRange<int64_t>(0, k_last_instant.ms / 1000) * 1000};
  RC_ASSERT((a < b) == (to_text(a) < to_text(b)));
}

RC_GTEST_PROP(Duration, ReadsBackWhatItWrote, ()) {
  const Duration d{*any_number()};
  RC_ASSERT(parse_duration(to_text(d)).value() == d);
}

RC_GTEST_PROP(Money, ReadsBackWhatItWrote, ()) {
  const Money money{*any_number(), Currency{}};
  RC_ASSERT(parse_micros(micros_to_text(money.micros)).value() == money.micros);
  RC_ASSERT(parse_money(to_text(money)).value() == money);
}

RC_GTEST_PROP(ContractId, IsAlwaysWellFormed, (uint64_t high, uint64_t low)) {
  const Instant now{*rc::gen::inRange<int64_t>(0, int64_t{1} << 48)};
  RC_ASSERT(check_contract_id(make_contract_id(now, high, low).text).has_value());
}

RC_GTEST_PROP(InQuotes, IsAlwaysPrintable, (const std::string& text)) {
  RC_ASSERT(is_printable(in_quotes(text)));
}

}  // namespace
}  // namespace spillway
