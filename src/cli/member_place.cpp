#include "cli/member_place.h"

#include <optional>

#include "cli/ask_cluster.h"
#include "cli/asking.h"
#include "kube/access.h"
#include "services/agent/cluster_papers.h"
#include "services/agent/folder_papers.h"
#include "services/agent/held_secret.h"

namespace spillway::cli {
namespace {

// Who only reads needs no right to write there.
Result<MemberTrust> change_in_folder(const std::string& dir,
                                     const agent::Papers::TrustChange& change) {
  auto member = agent::load_credentials(dir);
  if (!member) return tl::unexpected(std::move(member).error());
  agent::FolderPapers papers(dir);
  auto book = change ? papers.change_trust_now(change) : papers.read_trust_now();
  if (!book) return tl::unexpected(std::move(book).error());
  return MemberTrust{std::move(*member), std::move(*book)};
}

Result<agent::Credentials> member_in(const Result<kube::Object>& secret, const kube::Name& name) {
  const std::string text = kube::to_text(kube::k_secrets, name);
  if (!secret && secret.error().code == Code::not_found) {
    return fail(Code::not_found, text, "no member lives there under this name",
                "give the name of its --in-cluster, and its namespace with --namespace");
  }
  if (!secret) return tl::unexpected(secret.error());
  const auto files = agent::secret_data(*secret, text);
  if (!files) return tl::unexpected(files.error());
  return agent::credentials_in(*files, text);
}

Result<MemberTrust> change_in_cluster(const MemberPlace& place,
                                      const agent::Papers::TrustChange& change) {
  const auto access = kube::read_access(place.kubeconfig, place.context);
  if (!access) return tl::unexpected(access.error());
  const std::string space = place.space.empty() ? access->space : place.space;
  const agent::Papers::TrustChange wanted =
      change ? change : [](agent::TrustBook&) { return Status(); };
  const kube::Name identity{space, place.in_cluster + "-identity"};
  std::optional<agent::ClusterPapers> papers;
  MemberTrust told;
  const Status asked =
      ask_cluster(place.kubeconfig, place.context, [&](kube::Api& api, kube::Then<void> done) {
        papers.emplace(api, space, place.in_cluster);
        api.get(kube::k_secrets, identity, [&, done](const Result<kube::Object>& secret) {
          auto member = member_in(secret, identity);
          if (!member) return done(tl::unexpected(std::move(member).error()));
          told.member = std::move(*member);
          papers->change_trust(wanted, [&, done](Result<agent::TrustBook> book) {
            if (!book) return done(tl::unexpected(std::move(book).error()));
            told.book = std::move(*book);
            done({});
          });
        });
      });
  if (!asked) return tl::unexpected(asked.error());
  return told;
}

}  // namespace

void add_member_place(Word verb, MemberPlace& place) {
  add_dir(verb, place.dir);
  verb.option("--in-cluster", place.in_cluster,
              "Of the agent or autoscaler that lives in a cluster under this name")
      .type_name("NAME");
  verb.option("--kubeconfig", place.kubeconfig,
              "With --in-cluster: that cluster (default: the one that this runs in)")
      .type_name("FILE");
  verb.option("--context", place.context, "Of the kubeconfig (default: its current one)")
      .type_name("NAME");
  verb.option("--namespace", place.space, "With --in-cluster (default: the context's)")
      .type_name("NAME");
}

Status check(const MemberPlace& place) {
  if (!place.in_cluster.empty() && !place.dir.empty()) {
    return fail(Code::invalid, "--in-cluster and --dir", "the identity is in one of them",
                "give one of them");
  }
  const bool names_cluster =
      !place.kubeconfig.empty() || !place.context.empty() || !place.space.empty();
  if (place.in_cluster.empty() && names_cluster) {
    return fail(Code::invalid, "--kubeconfig, --context, --namespace",
                "they are of no use without --in-cluster",
                "say under which name the member lives there: --in-cluster NAME");
  }
  return {};
}

Result<MemberTrust> change_trust(const MemberPlace& place,
                                 const agent::Papers::TrustChange& change) {
  return place.in_cluster.empty() ? change_in_folder(identity_dir(place.dir), change)
                                  : change_in_cluster(place, change);
}

Result<MemberTrust> read_trust(const MemberPlace& place) { return change_trust(place, {}); }

}  // namespace spillway::cli
