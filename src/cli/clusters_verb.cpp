// spillway clusters: what the operator allows each of them.
#include "base/quantity.h"
#include "cli/asking.h"
#include "cli/cluster_changes.h"
#include "cli/documents.h"
#include "cli/files.h"
#include "cli/offer_text.h"
#include "cli/safe_text.h"
#include "cli/verbs.h"
#include "model/documents.h"

namespace spillway::cli {
namespace {

constexpr int k_change_tries = 4;  // of reading, changing and writing, when others write too

struct ClustersArguments {
  Asking asking;
  std::string name;
  std::string file;
  ClusterChanges changes;
};

std::string quota_text(const model::Quota& quota) {
  std::string text;
  const auto add = [&text](const std::string& amount, std::string_view of) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", amount, of);
  };
  if (quota.units) add(fmt::format("{}", *quota.units), "units");
  if (quota.open_holds) add(fmt::format("{}", *quota.open_holds), "open holds");
  if (quota.cpu_millis) add(cpu_to_text(*quota.cpu_millis), "cpu");
  if (quota.memory_bytes) add(bytes_to_text(*quota.memory_bytes), "memory");
  if (quota.pods) add(fmt::format("{}", *quota.pods), "pods");
  if (quota.storage_bytes) add(bytes_to_text(*quota.storage_bytes), "storage");
  for (const model::Count& gpu : quota.gpus) add(fmt::format("{} ×", gpu.amount), gpu.name);
  for (const model::Count& other : quota.extended)
    add(fmt::format("{} ×", other.amount), other.name);
  return text.empty() ? "no cap" : text;
}

std::string budget_text(const model::Cluster& cluster) {
  if (!cluster.budget) return "no cap";
  return fmt::format("{} from {}", to_text(cluster.budget->limit), to_text(cluster.budget->from));
}

std::string cluster_text(const model::Cluster& cluster) {
  Facts facts;
  facts.add("cluster", cluster.id.text);
  facts.add("labels", labels_text(cluster.labels, ","));
  facts.add("quota", quota_text(cluster.quota));
  facts.add("budget", budget_text(cluster));
  return facts.text();
}

int list_clusters(const Asking& asking) {
  return with_session("clusters", asking, [&](Session& session) -> Status {
    const auto page =
        all_pages(session, &wire::BrokerClient::list_clusters, &wire::ClusterPage::clusters);
    if (!page) return tl::unexpected(page.error());
    Table table({{"CLUSTER"}, {"LABELS"}, {"BUDGET"}, {"QUOTA"}});
    for (const model::Cluster& cluster : page->clusters) {
      table.add({cluster.id.text, labels_text(cluster.labels, ","), budget_text(cluster),
                 quota_text(cluster.quota)});
    }
    return show(asking.form(), json_of(*page), table,
                "No clusters. Invite one: spillway token create --cluster NAME --roles …");
  });
}

int run_show(const ClustersArguments& arguments) {
  const Asking& asking = arguments.asking;
  return with_session("clusters show", asking, [&](Session& session) -> Status {
    const auto told = session.ask(&wire::BrokerClient::get_cluster, ClusterId(arguments.name));
    if (!told) return tl::unexpected(told.error());
    return show(asking.form(), json_of(*told), [&] {
      Facts holds;
      holds.add("holds",
                fmt::format("{} units, {} of its holds are open", told->units, told->open_holds));
      return cluster_text(told->cluster) + holds.text();
    });
  });
}

std::string path_of(const std::string& name) { return "/v1/clusters/" + net::escape_segment(name); }

Result<net::Response> answer_to(Session& session, const net::Request& request) {
  auto response = session.send(request);
  if (response && response->status >= 300) return tl::unexpected(wire::error_of(*response));
  return response;
}

// Read, change, write if it is still what was read. `changed`: somebody else was faster.
Result<model::Cluster> change_once(Session& session, const ClustersArguments& arguments,
                                   bool& changed) {
  net::Request request;
  request.target = path_of(arguments.name);
  request.headers.push_back({"Accept", "application/json"});
  const auto read = answer_to(session, request);
  if (!read) return tl::unexpected(read.error());
  auto present = cluster_answer_from(read->body);
  if (!present) return tl::unexpected(present.error());
  model::Cluster cluster = std::move(present->cluster);
  SPILLWAY_TRY(apply(arguments.changes, now(), cluster));
  request.method = "PUT";
  request.body = json_of(cluster);
  request.headers.push_back({"Content-Type", "application/json"});
  if (const std::string* tag = net::find_header(read->headers, "ETag"); tag != nullptr) {
    request.headers.push_back({"If-Match", *tag});
  }
  const auto written = session.send(request);
  if (!written) return tl::unexpected(written.error());
  changed = written->status == 412;
  if (written->status >= 300) return tl::unexpected(wire::error_of(*written));
  return cluster;
}

Result<model::Cluster> change(Session& session, const ClustersArguments& arguments) {
  for (int i = 1;; ++i) {
    bool changed = false;
    auto cluster = change_once(session, arguments, changed);
    if (cluster || !changed || i == k_change_tries) return cluster;
  }
}

Result<model::Cluster> put_file(Session& session, const model::Cluster& cluster) {
  SPILLWAY_TRY(session.ask(&wire::BrokerClient::put_cluster, cluster));
  return cluster;
}

Result<std::optional<model::Cluster>> cluster_in_file(const ClustersArguments& arguments) {
  if (arguments.file.empty()) {
    if (!arguments.name.empty() && !arguments.changes.empty())
      return std::optional<model::Cluster>();
    return fail(Code::invalid, "clusters set", "it is not said what to set",
                "give a name and options, or -f FILE");
  }
  if (!arguments.changes.empty()) {
    return fail(Code::invalid, "clusters set", "a file says all there is: options beside it clash",
                "give either");
  }
  const auto text = read_file(arguments.file);
  if (!text) return tl::unexpected(text.error());
  auto cluster = model::cluster_from_yaml(*text, arguments.file);
  if (!cluster) return tl::unexpected(cluster.error());
  if (!arguments.name.empty() && arguments.name != cluster->id.text) {
    return fail(Code::invalid, arguments.file, "it describes " + cluster->id.text,
                "leave the name out, or name the same");
  }
  return std::optional<model::Cluster>(std::move(*cluster));
}

int run_set(const ClustersArguments& arguments) {
  const auto file = cluster_in_file(arguments);
  if (!file) return wrongly_called("clusters set", file.error());
  const Asking& asking = arguments.asking;
  return with_session("clusters set", asking, [&](Session& session) -> Status {
    const auto cluster = *file ? put_file(session, **file) : change(session, arguments);
    if (!cluster) return tl::unexpected(cluster.error());
    return show(asking.form(), json_of(*cluster), [&] { return cluster_text(*cluster); });
  });
}

}  // namespace

void add_clusters(Word verb) {
  auto arguments = std::make_shared<ClustersArguments>();
  add_asking(verb, arguments->asking);
  verb.examples(
      "  spillway clusters\n"
      "  spillway clusters set milan-edge --quota-units 20 --budget \"2500 EUR\"\n"
      "  spillway clusters set milan-edge --labels tier=gold,sector-\n"
      "  spillway clusters set -f cluster.yaml\n");
  const Word list = verb.add("list", "All clusters");
  add_asking(list, arguments->asking);
  const Word one = verb.add("show", "One, with what it holds");
  one.option("name", arguments->name, "Of the cluster").required();
  add_asking(one, arguments->asking);
  one.run([arguments] { return run_show(*arguments); });
  const Word set = verb.add("set", "Change what a cluster may buy, and its labels");
  set.option("name", arguments->name, "Of the cluster");
  set.option("-f,--file", arguments->file, "Everything about it, as YAML").type_name("FILE");
  add_cluster_changes(set, arguments->changes);
  add_asking(set, arguments->asking);
  set.run([arguments] { return run_set(*arguments); });
  verb.run([arguments] { return list_clusters(arguments->asking); });
}

}  // namespace spillway::cli
