#include "cli/yaml_text.h"

#include <gtest/gtest.h>

#include "cli/documents.h"
#include "model/documents.h"

namespace spillway::cli {
namespace {

TEST(YamlText, WritesBlocks) {
  EXPECT_EQ(*yaml_of_json(R"({"version":1,"pools":[{"id":"a/b","cpu":"4"},{"id":"c/d"}],"none":[],)"
                          R"("o":{},"deep":{"x":[1,2.5,true,null]}})"),
            "version: 1\n"
            "pools:\n"
            "- id: a/b\n"
            "  cpu: \"4\"\n"
            "- id: c/d\n"
            "none: []\n"
            "o: {}\n"
            "deep:\n"
            "  x:\n"
            "  - 1\n"
            "  - 2.5\n"
            "  - true\n"
            "  - null\n");
}

TEST(YamlText, QuotesWhatCouldBeTakenForSomethingElse) {
  EXPECT_EQ(*yaml_of_json(R"({"a":"no","b":"1.5","c":"a: b","d":"","e":"2026-01-31T09:00:00Z"})"),
            "a: \"no\"\nb: \"1.5\"\nc: \"a: b\"\nd: \"\"\ne: \"2026-01-31T09:00:00Z\"\n");
}

TEST(YamlText, IsSafeToShow) {
  EXPECT_EQ(*yaml_of_json("{\"a\":\"x\xe2\x80\xae\"}"), "a: \"x\\u202e\"\n");
}

TEST(YamlText, ReadsBackToTheSame) {
  model::Cluster cluster;
  cluster.id = ClusterId("milan-edge");
  cluster.labels = {{"empty", ""}, {"tier", "no"}, {"zone", "1"}};
  cluster.quota.units = 20;
  cluster.quota.cpu_millis = 1500;
  cluster.quota.gpus = {{"nvidia-a100", 4}};
  cluster.budget = model::Budget{{2'500'000'000, {}}, Instant{1'769'936'400'000}};
  const auto yaml = yaml_of_json(json_of(cluster));
  ASSERT_TRUE(yaml.has_value());
  const auto back = model::cluster_from_yaml(*yaml);
  ASSERT_TRUE(back.has_value()) << back.error().message() << *yaml;
  EXPECT_EQ(*back, cluster);
}

}  // namespace
}  // namespace spillway::cli
