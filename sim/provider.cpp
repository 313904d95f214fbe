#include "sim/provider.h"

#include <algorithm>
#include <charconv>

#include "model/json.h"
#include "model/tree.h"
#include "sim/stated_point.h"

namespace spillway::sim {
namespace {

constexpr Duration k_pool_lease = seconds(30);
constexpr Duration k_heard_by_all = seconds(10);

// What a meter says that runs fast or slow: of all that the unit could have used, so much.
model::Use part_of_whole(const model::Contract& contract, Duration time, int64_t permille) {
  const auto part = [permille](int64_t amount) { return amount * permille / 1000; };
  const int64_t ms = std::max<int64_t>(0, time.ms);
  model::Use use;
  use.cpu_core_ms = part(contract.shape.cpu_millis * ms / 1000);
  use.memory_mib_s = part((contract.shape.memory_bytes >> 20) * ms / 1000);
  for (const model::Count& gpu : contract.shape.gpus) {
    if (part(gpu.amount * ms) > 0) use.gpu_ms.push_back({gpu.name, part(gpu.amount * ms)});
  }
  return use;
}
constexpr Duration k_clocks_differ = seconds(30);
// A question, a wait between two of them, and one more that is not answered.
constexpr Duration k_asks_again = minutes(3);

bool is_pool_put(const net::Request& request) {
  return request.method == "PUT" && request.target.starts_with("/v1/pools/");
}

}  // namespace

SimProvider::SimProvider(Surroundings& around, Address at, const std::string& name)
    : Party(around, at, {name, {model::Role::provider}, {}}), id_(name), disk_(process_) {
  channel_.watch_requests([this](const net::Request& request) { watch_request(request); });
}

void SimProvider::begin() {
  if (has_joined()) start_agent();
  change_later();
  meter_later();
  carried_.clear();
  watch_leases();
}

void SimProvider::end() {
  on_agent_ending();
  signing_.reset();
  agent_.reset();
  disk_.crash();
}

void SimProvider::on_certificate() {
  if (agent_ == nullptr) return start_agent();
  agent_->credentials_changed();
}

void SimProvider::start_agent() {
  agent::AgentOptions options;
  options.cluster = id_;
  options.pool_lease = k_pool_lease;
  if (signs()) {
    options.signatory = signatory();
    options.papers = &papers();
    signing_ = std::make_unique<agent::Signing>(wire::BrokerClient(channel_), papers(), signatory(),
                                                [this] { return process_.now(); });
  }
  agent_ = std::make_unique<agent::Agent>(process_, world_.random(), channel_, disk_, log_,
                                          std::move(options));
  agent_->messages().hear("nonce", [this](const agent::Received& message) { hear(message); });
  const auto started = agent_->start(first_supply());
  laws_.expect(started.has_value(), 2,
               fmt::format("the agent of {} does not start from what it saved", id_.text));
  heard_.clear();
  for (const auto& [id, with] : agent_->state().mailbox.contracts) heard_[id] = with.seen;
  on_agent_started();
}

void SimProvider::hear(const agent::Received& message) {
  int64_t& last = heard_[message.contract];
  laws_.on_heard(id_, message.contract, last, message.sequence, message.body);
  last = message.sequence;
}

// To one of its buyers, if they have signed.
void SimProvider::chat() {
  if (agent_ == nullptr || agent_->state().contracts.empty()) return;
  const auto& contracts = agent_->state().contracts;
  const auto pick = static_cast<ptrdiff_t>(world_.below(contracts.size()));
  const ContractId& id = std::next(contracts.begin(), pick)->first;
  const std::string body = fmt::format("{} {:x}", id_.text, world_.random().next());
  const Duration ttl = world_.between(seconds(5), minutes(2));
  const auto sent = agent_->messages().send(id, "nonce", body, ttl);
  if (sent) laws_.on_said(id_, id, *sent, body);
}

void SimProvider::change_later() {
  process_.after(world_.between(seconds(8), seconds(12)), [this] {
    if (is_retired()) return;
    if (world_.chance(200)) change_something();
    if (world_.chance(50)) repeat_old();
    chat();
    if (world_.chance(30)) renew();
    change_later();
  });
}

void SimProvider::meter_later() {
  process_.after(world_.between(seconds(5), seconds(15)), [this] {
    if (is_retired()) return;
    if (agent_ != nullptr && has_joined()) meter();
    meter_later();
  });
}

// Of all units that are paid per use. Some readings are less than those before, some more than can
// be; some are sent twice.
void SimProvider::meter() {
  for (const auto& [id, contract] : agent_->state().contracts) {
    const bool is_metered = contract.provider == id_ && contract.started &&
                            contract.price.basis == model::PriceBasis::pay_per_use;
    if (!is_metered) continue;
    std::vector<model::MeteredUse> used;
    const auto permille = static_cast<int64_t>(200 + world_.below(1200));
    for (const model::Unit& unit : contract.units) {
      if (!unit.live) continue;
      const Duration time = world_.now() - *contract.started;
      used.push_back({unit.number, part_of_whole(contract, time, permille)});
    }
    if (used.empty()) continue;
    const auto send = [this, id = id, used](wire::Then<wire::ContractAnswer> then) {
      agent::meter_usage(client_, signing_.get(), id, used, std::move(then));
    };
    if (world_.chance(50)) send([](const Result<wire::ContractAnswer>&) {});
    insist<wire::ContractAnswer>(send, [](const Result<wire::ContractAnswer>&) {});
  }
}

void SimProvider::watch_request(const net::Request& request) {
  if (request.target.ends_with("/countersign")) {
    const auto body = model::parse_json(request.body);
    if (body) laws_.check_countersigned(id_.text, std::string(model::text_at(*body, {"document"})));
  }
  if (repeating_ || !is_pool_put(request)) return;
  check_report(request);
  check_carried(request);
  old_.push_back(request);
  if (old_.size() > 30) old_.pop_front();
}

// Whatever crashed meanwhile: the newest message has the highest number.
void SimProvider::check_report(const net::Request& request) {
  constexpr std::string_view k_field = "\"report\":";
  const size_t at = request.body.rfind(k_field);
  int64_t report = 0;
  if (at != std::string::npos) {
    const char* end = request.body.data() + request.body.size();
    std::from_chars(request.body.data() + at + k_field.size(), end, report);
  }
  int64_t& last = reports_[request.target];
  laws_.expect(report > last, 4,
               fmt::format("{}: report {} was sent after {}", request.target, report, last));
  last = report;
}

// What it knows to run, it says.
void SimProvider::check_carried(const net::Request& request) {
  if (agent_ == nullptr) return;
  for (const auto& [id, contract] : agent_->state().contracts) {
    const bool runs = std::any_of(
        contract.units.begin(), contract.units.end(),
        [&](const model::Unit& unit) { return unit.live && (!contract.spare || unit.bought); });
    const bool here = contract.provider == id_ && contract.started && runs &&
                      request.target == "/v1/pools/" + contract.pool.text;
    laws_.expect(!here || request.body.find(id.text) != std::string::npos, 4,
                 fmt::format("{}: contract {} runs, and is not among what it carries",
                             request.target, id.text));
  }
}

// As if it had been on its way all the time.
void SimProvider::repeat_old() {
  if (old_.empty() || !has_joined()) return;
  repeating_ = true;
  channel_.send(old_[world_.below(old_.size())], [](const Result<net::Response>&) {});
  repeating_ = false;
}

// The agent's memory, second by second: what has left it, and what should have.
void SimProvider::watch_leases() {
  process_.after(seconds(1), [this] {
    watch_leases();
    if (agent_ == nullptr) return;
    const auto& known = agent_->state().contracts;
    for (const auto& [id, contract] : carried_) {
      if (!known.contains(id)) check_ended(contract);
    }
    carried_.clear();
    for (const auto& [id, contract] : known) {
      if (contract.provider != id_ || !contract.started) continue;
      carried_.emplace(id, contract);
      check_overdue(contract);
    }
  });
}

// Nobody has told it to: then it is beyond the stated point, and the broker will hear of it.
void SimProvider::check_ended(const model::Contract& contract) {
  const auto* row = laws_.rows().get<model::Contract>(market::key_of(contract.id));
  if (row == nullptr || !row->is_live()) return;
  const Instant point = stated_point(contract);
  laws_.expect(process_.now() >= point, 4,
               fmt::format("{} ended contract {} {} before its stated point", id_.text,
                           contract.id.text, to_text(point - process_.now())));
  laws_.expect(agent_->state().ended_unheard.contains(contract.id), 3,
               fmt::format("{} ended contract {} and will not say so", id_.text, contract.id.text));
}

void SimProvider::check_overdue(const model::Contract& contract) {
  const Instant since = std::max(contract.deadline, agent_->status().heard);
  const Instant latest = since + patience_of(contract) + k_clocks_differ + k_asks_again;
  laws_.expect(process_.now() <= latest, 3,
               fmt::format("{} carries contract {} long after its stated point", id_.text,
                           contract.id.text));
}

void SimProvider::check_agent() {
  if (agent_ == nullptr || needs_token()) return;
  const auto& known = agent_->state().contracts;
  const auto& ended = agent_->state().ended_unheard;
  for (const auto& [key, row] : laws_.rows().all()) {
    const auto* contract = held<model::Contract>(row.record);
    if (contract == nullptr || contract->provider != id_) continue;
    const bool runs = contract->started && contract->is_live();
    const bool fresh = contract->started && world_.now() - *contract->started < k_heard_by_all;
    const auto at = known.find(contract->id);
    const bool is_known = at != known.end() || ended.contains(contract->id);
    laws_.expect(!runs || fresh || is_known, 2,
                 fmt::format("{} runs contract {} and does not know", id_.text, key.id));
  }
}

void SimProvider::check_settled() {
  Party::check_settled();
  laws_.expect(agent_ != nullptr && agent_->status().connected, 3,
               fmt::format("the agent of {} has not found back", id_.text));
  if (agent_ == nullptr) return;
  laws_.expect(agent_->state().contracts.empty(), 3,
               fmt::format("{} carries what has ended", id_.text));
  laws_.expect(agent_->state().ended_unheard.empty(), 3,
               fmt::format("{} never told what it has ended by itself", id_.text));
  check_supply();
}

}  // namespace spillway::sim
