// The laws on what parties are told over the wire: answers, refusals and events.
#include "services/wire/fields.h"
#include "sim/issuer.h"
#include "sim/laws.h"

namespace spillway::sim {
namespace {

using market::EventKind;

constexpr Duration k_on_its_way = seconds(20);
constexpr size_t k_max_answer = size_t{16} << 20;

template <class T>
Result<T> read(const std::string& text) {
  return model::read_json<T>(text, model::Heading{.what = "answer", .max_bytes = k_max_answer});
}

// "/v1/contracts/<id>/<verb>" without its first two segments and the query.
struct ContractPath {
  std::string id;
  std::string verb;
};
std::optional<ContractPath> contract_path(const std::string& target) {
  constexpr std::string_view k_prefix = "/v1/contracts/";
  if (!target.starts_with(k_prefix)) return std::nullopt;
  const std::string rest = target.substr(k_prefix.size());
  const size_t slash = rest.find('/');
  if (slash == std::string::npos) return ContractPath{rest, {}};
  return ContractPath{rest.substr(0, slash), rest.substr(slash + 1)};
}

market::Command command_of(const std::string& caller, const ContractPath& path) {
  const ClusterId party(caller);
  const ContractId id(path.id);
  if (path.verb == "confirm") return market::Confirm{party, id};
  if (path.verb == "extend") return market::Extend{party, id, {}};
  if (path.verb == "renew") return market::Renew{party, id};
  if (path.verb == "release") return market::Release{party, id, {}};
  if (path.verb == "notice") return market::GiveNotice{party, id};
  if (path.verb == "usage") return market::MeterUsage{party, id, {}};
  if (path.verb == "drained") return market::Drained{party, id};
  return market::Look{party, id};
}

}  // namespace

bool Laws::sees_all(const std::string& name) const {
  const auto* identity = rows_.get<model::Identity>(market::identity_key(name));
  return identity != nullptr &&
         (identity->has(model::Role::operator_) || identity->has(model::Role::viewer));
}

void Laws::check_problem(const std::string& caller, const net::Request& request,
                         const net::Response& response) {
  const auto problem = read<wire::Problem>(response.body);
  const bool explained = problem && !problem->thing.empty() && !problem->reason.empty() &&
                         !problem->next.empty() && problem->status == response.status;
  expect(explained, 7,
         fmt::format("a refusal of {} {} does not explain itself: {}", request.method,
                     request.target, response.body));
  expect(response.status != 500, 7,
         fmt::format("{} {} failed inside: {}", request.method, request.target, response.body));
  if (problem && problem->snapshot) check_snapshot(caller, *problem->snapshot);
}

void Laws::check_snapshot(const std::string& caller, const wire::SnapshotAnswer& snapshot) {
  expect(snapshot.sequence <= rows_.last_event(), 2, "a snapshot is of an event that is not there");
  for (const wire::PoolRow& pool : snapshot.pools) {
    expect(pool.provider.text == caller, 5, fmt::format("{} was shown a foreign pool", caller));
  }
  for (const wire::OfferRow& offer : snapshot.offers) {
    expect(offer.provider.text == caller, 5, fmt::format("{} was shown a foreign offer", caller));
  }
  for (const model::Contract& contract : snapshot.contracts) {
    expect(contract.provider.text == caller || contract.buyer.text == caller, 5,
           fmt::format("{} was shown a foreign contract", caller));
  }
}

void Laws::on_contract_answer(const std::string& caller, const net::Request& request,
                              const net::Response& response) {
  const auto path = contract_path(request.target);
  const auto told = read<wire::ContractAnswer>(response.body);
  expect(told && told->contract.id.text == path->id, 7,
         fmt::format("{} was answered with another contract", request.target));
  if (!told) return;
  const market::Command command = command_of(caller, *path);
  if (std::holds_alternative<market::Look>(command) && sees_all(caller)) return;
  market::Answer answer;
  answer.contract = told->contract;
  const bool party = told->contract.buyer.text == caller || told->contract.provider.text == caller;
  expect(party, 5, fmt::format("{} touched a foreign contract", caller));
  on_answer(command, answer);
}

void Laws::on_agreement_answer(const std::string& caller, const net::Request& request,
                               const net::Response& response) {
  const auto told = read<wire::AgreementAnswer>(response.body);
  expect(told && told->contract.id.text == contract_path(request.target)->id, 7,
         fmt::format("{} was answered with something else", request.target));
  const bool party = told && (told->contract.buyer.text == caller ||
                              told->contract.provider.text == caller || sees_all(caller));
  expect(party, 5, fmt::format("{} was shown what others signed", caller));
}

void Laws::on_hold_answer(const std::string& caller, const net::Request& request,
                          const net::Response& response) {
  const auto asked = read<wire::HoldRequest>(request.body);
  const auto told = read<wire::HoldAnswer>(response.body);
  expect(asked && told, 7, "a hold was answered with something else");
  if (!asked || !told) return;
  const std::string* key = net::find_header(request.headers, "Idempotency-Key");
  market::Hold hold{ClusterId(caller), key == nullptr ? "" : *key, asked->lines, asked->ttl, {}};
  market::Answer answer;
  answer.grants = told->grants;
  answer.replayed = response.status == 200;
  on_answer(hold, answer);
}

void Laws::on_join_answer(const net::Request& request, const net::Response& response) {
  const auto asked = read<wire::JoinRequest>(request.body);
  const auto told = read<wire::CertificateAnswer>(response.body);
  expect(asked && told, 7, "who joined was answered with something else");
  if (!asked || !told) return;
  const auto certificate = read_certificate(told->certificate);
  market::Answer answer;
  answer.identity.emplace();
  answer.identity->name = told->name;
  if (certificate != nullptr) answer.identity->key = certificate->key;
  on_answer(market::Join{token_id_in(asked->token), key_in(asked->request), told->certificate,
                         told->not_after},
            answer);
}

std::optional<wire::IdentityRow> Laws::on_response(const std::string& caller,
                                                   const net::Request& request,
                                                   const net::Response& response) {
  if (response.status >= 400) {
    check_problem(caller, request, response);
    return std::nullopt;
  }
  // Sealed: who may see it is asked elsewhere, and what it says nobody can.
  if (request.target.find("/messages") != std::string::npos) return std::nullopt;
  if (request.target.ends_with("/agreement")) {
    on_agreement_answer(caller, request, response);
  } else if (contract_path(request.target)) {
    on_contract_answer(caller, request, response);
  } else if (request.target == "/v1/holds") {
    on_hold_answer(caller, request, response);
  } else if (request.target == "/v1/join") {
    on_join_answer(request, response);
  } else if (request.target == "/v1/snapshot") {
    if (const auto told = read<wire::SnapshotAnswer>(response.body)) check_snapshot(caller, *told);
  } else if (request.target.ends_with("/revoke")) {
    const auto told = read<wire::IdentityRow>(response.body);
    expect(told && told->revoked, 2, "somebody was revoked, and is not");
    if (!told || !told->revoked) return std::nullopt;
    market::Answer answer;
    answer.identity.emplace();
    answer.identity->name = told->name;
    answer.identity->revoked = told->revoked;
    on_answer(market::Revoke{told->name}, answer);
    return *told;
  }
  return std::nullopt;
}

void Laws::remember_events(const host::Commit& commit) {
  // A crash may have taken some back; their numbers are given anew.
  const auto before = static_cast<size_t>(rows_.last_event()) - commit.events.size();
  history_.resize(before);
  for (const market::Event& event : commit.events) {
    const bool of_all =
        event.kind == EventKind::outage_recorded || event.kind == EventKind::epoch_begun;
    history_.push_back({of_all, event.provider.text, event.buyer.text, clock_()});
  }
}

bool Laws::concerns(int64_t sequence, const std::string& name) const {
  const Business& business = history_[static_cast<size_t>(sequence - 1)];
  return business.of_all || business.provider == name || business.buyer == name;
}

void Laws::on_told(const std::string& name, int64_t last, int64_t sequence) {
  expect(sequence > last, 2, fmt::format("{} was told of event {} after {}", name, sequence, last));
  expect(sequence <= std::ssize(history_), 2, "an event was told that is not there");
  if (sequence <= last || sequence > std::ssize(history_)) return;
  const bool all = sees_all(name);
  for (int64_t missed = last + 1; last >= 0 && missed < sequence; ++missed) {
    if (!all && !concerns(missed, name)) continue;
    expect(
        false, 2,
        fmt::format("{} was not told of event {}, but of {} and {}", name, missed, last, sequence));
  }
  expect(all || concerns(sequence, name), 5,
         fmt::format("{} was told of event {}, which is not its business", name, sequence));
}

void Laws::check_told_all(const std::string& name, int64_t last) {
  const bool all = sees_all(name);
  const Instant long_ago = clock_() - k_on_its_way;
  for (int64_t missed = last + 1; missed <= std::ssize(history_); ++missed) {
    if (history_[static_cast<size_t>(missed - 1)].at > long_ago) break;
    expect(!all && !concerns(missed, name), 2,
           fmt::format("{} was never told of event {}", name, missed));
  }
}

std::optional<Instant> Laws::revoked_since(const std::string& name) const {
  const auto at = revoked_at_.find(name);
  if (at == revoked_at_.end()) return std::nullopt;
  return at->second;
}

}  // namespace spillway::sim
