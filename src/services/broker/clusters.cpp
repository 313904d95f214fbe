// Clusters: what the operator allows them.
#include "services/broker/handlers.h"
#include "services/broker/listing.h"

namespace spillway::services {
namespace {

using market::AccountRecord;

// Of what the operator writes, not of the row: buying changes the row all the time.
std::string etag_of(const model::Cluster& cluster) {
  return fmt::format("\"{}\"", to_hex(Digest().add(model::write_json(cluster)).value()));
}

wire::ClusterAnswer answer_of(const AccountRecord& account) {
  return {account.cluster, account.units, account.open_holds};
}

void refuse_changed(Desk& desk, Call& call) {
  reply(desk, call,
        problem(412, "changed",
                {Code::conflict, "cluster " + call.parameters[0],
                 "it is no longer what If-Match says", "read it again, then decide"}));
}

bool matches(const Call& call, const AccountRecord* account) {
  const std::string* tag = net::find_header(call.request.headers, "If-Match");
  if (tag == nullptr) return true;
  return account != nullptr && (*tag == "*" || *tag == etag_of(account->cluster));
}

void put(Desk& desk, const std::shared_ptr<Call>& call, const model::Cluster& cluster,
         const AccountRecord* account) {
  market::PutCluster command{cluster};
  const bool guarded = net::find_header(call->request.headers, "If-Match") != nullptr;
  if (guarded) command.expected = account->cluster;
  const int status = account == nullptr ? 201 : 200;
  desk.book.submit(std::move(command),
                   [&desk, call, cluster, status, guarded](const Result<market::Answer>& told) {
                     if (!told && guarded && told.error().code == Code::conflict) {
                       return refuse_changed(desk, *call);
                     }
                     if (!told) return refuse(desk, *call, told.error());
                     net::Response response = json_response(status, model::write_json(cluster));
                     response.headers.push_back({"ETag", etag_of(cluster)});
                     reply(desk, *call, std::move(response));
                   },
                   {call->caller.name, call->id});
}

}  // namespace

void handle_list_clusters(Desk& desk, const std::shared_ptr<Call>& call) {
  list_rows<AccountRecord>(desk, call, market::Kind::account, &wire::ClusterPage::clusters);
}

void handle_get_cluster(Desk& desk, const std::shared_ptr<Call>& call) {
  const market::Key key = market::account_key(ClusterId(call->parameters[0]));
  load(desk, call, {{key}, {}}, [&desk, call](const host::Snapshot& snapshot) {
    const auto* account = held<AccountRecord>(snapshot.rows[0]);
    if (account == nullptr) {
      return refuse(desk, *call, missing("cluster", call->parameters[0]));
    }
    const std::string etag = etag_of(account->cluster);
    if (not_modified(desk, *call, etag)) return;
    net::Response response = json_response(200, model::write_json(answer_of(*account)));
    response.headers.push_back({"ETag", etag});
    reply(desk, *call, std::move(response));
  });
}

void handle_put_cluster(Desk& desk, const std::shared_ptr<Call>& call) {
  const auto cluster = read_body<model::Cluster>(desk, *call, "cluster");
  if (!cluster) return;
  if (cluster->id.text != call->parameters[0]) {
    return refuse(desk, *call,
                  {Code::invalid, "id",
                   fmt::format("it is {}, the path says {}", cluster->id.text, call->parameters[0]),
                   "let both name the same"});
  }
  const market::Key key = market::account_key(cluster->id);
  load(desk, call, {{key}, {}}, [&desk, call, cluster](const host::Snapshot& snapshot) {
    const auto* account = held<AccountRecord>(snapshot.rows[0]);
    if (matches(*call, account)) return put(desk, call, *cluster, account);
    refuse_changed(desk, *call);
  });
}

}  // namespace spillway::services
