// Readings as options and files; invoices as people read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/invoice_text.h"
#include "cli/use_options.h"

namespace spillway::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Instant k_now{1'780'000'000'000};

TEST(UseOptions, AreHoursOfEachResource) {
  UseOptions options;
  options.unit = 3;
  options.cpu_hours = "1.5";
  options.memory_gib_hours = "2";
  options.gpu_hours = {"nvidia-h100=1", "nvidia-a100=0.5"};
  const auto used = readings_from(options);
  ASSERT_TRUE(used) << used.error().message();
  ASSERT_EQ(used->size(), 1u);
  EXPECT_EQ((*used)[0].unit, 3);
  EXPECT_EQ((*used)[0].use,
            (model::Use{.cpu_core_ms = 5'400'000,
                        .memory_mib_s = 2 * 1024 * 3600,
                        .gpu_ms = {{"nvidia-a100", 1'800'000}, {"nvidia-h100", 3'600'000}}}));
}

TEST(UseOptions, WhatMeansNothingIsRefusedByTheNameOfTheOption) {
  EXPECT_FALSE(readings_from({}));
  UseOptions options;
  options.cpu_hours = "much";
  EXPECT_THAT(readings_from(options).error().message(), HasSubstr("--cpu-hours"));
  options.cpu_hours = "-1";
  EXPECT_FALSE(readings_from(options));
  options.cpu_hours = "1";
  options.gpu_hours = {"nvidia-a100"};
  EXPECT_THAT(readings_from(options).error().message(), HasSubstr("--gpu-hours"));
}

TEST(UseOptions, AFileHasReadingsOfSeveralUnits) {
  const auto used = readings_in(
      "# unit resource hours\n1 cpu 0.5\n\n0\tcpu 1 # all of it\n"
      "1 gpu/nvidia-a100 2\r\n0 example.com/fpga 1\n",
      "readings");
  ASSERT_TRUE(used) << used.error().message();
  ASSERT_EQ(used->size(), 2u);
  EXPECT_EQ((*used)[0].use, (model::Use{.cpu_core_ms = 3'600'000,
                                        .extended_ms = {{"example.com/fpga", 3'600'000}}}));
  EXPECT_EQ((*used)[1].use,
            (model::Use{.cpu_core_ms = 1'800'000, .gpu_ms = {{"nvidia-a100", 7'200'000}}}));
  for (const std::string wrong : {"0 cpu", "x cpu 1", "-1 cpu 1", "0 water 1", "0 cpu wet", ""}) {
    EXPECT_FALSE(readings_in(wrong, "readings")) << wrong;
  }
  EXPECT_THAT(readings_in("0 cpu 1\n0 water 1\n", "readings").error().message(),
              HasSubstr("line 2"));
}

market::InvoiceLine line_of(const std::string& contract, int64_t amount) {
  market::InvoiceLine line;
  line.contract = ContractId(contract);
  line.buyer = ClusterId("lyon");
  line.provider = ClusterId("turin");
  line.offer = OfferId("turin/small");
  line.from = k_now - hours(2);
  line.to = k_now;
  line.rate = 100'000;
  line.amount = amount;
  return line;
}

wire::InvoiceAnswer part_of(std::vector<market::InvoiceLine> lines) {
  wire::InvoiceAnswer part;
  part.cluster = ClusterId("lyon");
  part.as_of = k_now;
  part.lines = std::move(lines);
  return part;
}

TEST(InvoiceText, OfAContractThatIsInTwoPartsTheLaterCounts) {
  wire::InvoiceAnswer whole;
  add_part(whole, part_of({line_of("a", 1), line_of("b", 2)}));
  add_part(whole, part_of({line_of("c", 4), line_of("a", 8)}));
  ASSERT_EQ(whole.lines.size(), 3u);
  ASSERT_EQ(whole.totals.size(), 1u);
  EXPECT_EQ(whole.totals[0].settled, 14);
}

TEST(InvoiceText, SaysWithWhomForWhatAndWhatItComesTo) {
  market::InvoiceLine running = line_of("b", 50'000);
  running.running = true;
  market::InvoiceLine metered = line_of("c", 1);
  metered.why = market::LineReason::metered;
  metered.use.cpu_core_ms = 5'400'000;
  wire::InvoiceAnswer invoice;
  add_part(invoice, part_of({line_of("a", 200'000), running, metered}));
  const std::string text = invoice_text(invoice, {k_now, false}, 0);
  EXPECT_THAT(text, AllOf(HasSubstr("Invoice of lyon"), HasSubstr("bought"), HasSubstr("turin"),
                          HasSubstr("0.2 EUR"), HasSubstr("still running"), HasSubstr("2h"),
                          HasSubstr("1.5 cpu hours")));
  EXPECT_THAT(text, HasSubstr("0.250001 EUR"));
  EXPECT_THAT(invoice_text(part_of({}), {k_now, false}, 0), HasSubstr("Nothing was bought"));
  invoice.cluster = ClusterId("turin");
  EXPECT_THAT(lines_table(invoice, {k_now, false}).plain(),
              AllOf(HasSubstr("sold\tlyon"), Not(HasSubstr("bought"))));
}

TEST(When, IsADateATimeOrHowLongAgo) {
  EXPECT_EQ(*parse_when("2026-01-31", k_now), *parse_instant("2026-01-31T00:00:00Z"));
  EXPECT_EQ(*parse_when("2026-01-31T12:00:00Z", k_now), *parse_instant("2026-01-31T12:00:00Z"));
  EXPECT_EQ(*parse_when("7d", k_now), k_now - hours(7 * 24));
  EXPECT_FALSE(parse_when("yesterday", k_now));
  EXPECT_EQ(month_of(*parse_instant("2026-02-28T23:59:59.999Z")),
            *parse_instant("2026-02-01T00:00:00Z"));
  EXPECT_EQ(short_time(milliseconds(90'061'234)), "1d1h1m1s");
  EXPECT_EQ(short_time(milliseconds(12)), "12ms");
}

}  // namespace
}  // namespace spillway::cli
