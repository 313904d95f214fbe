#include "sim/provider.h"

#include <charconv>

namespace spillway::sim {
namespace {

constexpr Duration k_pool_lease = seconds(30);
constexpr Duration k_heard_by_all = seconds(10);

model::Resources shape_of(int64_t cores) {
  model::Resources shape;
  shape.cpu_millis = cores * 1000;
  shape.memory_bytes = cores * (int64_t{2} << 30);
  shape.pods = cores * 10;
  return shape;
}

bool is_pool_put(const net::Request& request) {
  return request.method == "PUT" && request.target.starts_with("/v1/pools/");
}

}  // namespace

SimProvider::SimProvider(Surroundings& around, Address at, const std::string& name,
                         const std::vector<ClusterId>& friends)
    : Party(around, at, {name, {model::Role::provider}, {}}), id_(name), disk_(process_) {
  invent(friends);
  channel_.watch_requests([this](const net::Request& request) { watch_request(request); });
}

void SimProvider::invent(const std::vector<ClusterId>& friends) {
  const auto pools = 1 + world_.below(2);
  for (uint64_t i = 0; i < pools; ++i) {
    model::Pool pool;
    pool.id = PoolId(fmt::format("{}/pool-{}", id_.text, i));
    pool.node = shape_of(8);
    if (world_.chance(300)) pool.node.gpus = {{"nvidia-a100", 2}};
    pool.capacity = pool.node.times(1 + static_cast<int64_t>(world_.below(3)));
    pools_.push_back(pool);
    const auto offers = 1 + world_.below(3);
    for (uint64_t n = 0; n < offers; ++n) {
      offers_.push_back(invent_offer(pool, static_cast<int>(offers_.size()), friends));
    }
  }
}

model::Offer SimProvider::invent_offer(const model::Pool& pool, int number,
                                       const std::vector<ClusterId>& friends) {
  model::Offer offer;
  offer.id = OfferId(fmt::format("{}/offer-{}", id_.text, number));
  offer.pool = pool.id;
  offer.shape = shape_of(1 + static_cast<int64_t>(world_.below(4)));
  if (!pool.node.gpus.empty() && world_.chance(500)) offer.shape.gpus = {{"nvidia-a100", 1}};
  offer.price.unit_hour = 10'000 + static_cast<int64_t>(world_.below(1'000'000));
  offer.price.cpu_hour = static_cast<int64_t>(world_.below(100'000));
  if (world_.chance(300)) offer.price.basis = model::PriceBasis::pay_per_use;
  if (world_.chance(300)) offer.price.minimum_term = minutes(5);
  offer.place.latitude_microdegrees = static_cast<int32_t>(world_.below(120'000'000)) - 60'000'000;
  offer.place.longitude_microdegrees =
      static_cast<int32_t>(world_.below(360'000'000)) - 180'000'000;
  offer.place.country = "IT";
  if (world_.chance(300)) {
    offer.visibility.clusters = {friends[world_.below(friends.size())]};
  } else if (world_.chance(300)) {
    offer.visibility.selector = {{"tier", "gold"}};
  } else {
    offer.visibility.everyone = true;
  }
  offer.terms.lease = seconds(30 + static_cast<int64_t>(world_.below(270)));
  offer.terms.notice = seconds(10 + static_cast<int64_t>(world_.below(50)));
  offer.terms.drain = seconds(1 + static_cast<int64_t>(world_.below(20)));
  offer.terms.grace = seconds(static_cast<int64_t>(world_.below(300)));
  return offer;
}

void SimProvider::begin() {
  if (has_joined()) start_agent();
  change_later();
}

void SimProvider::end() {
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
  agent_ = std::make_unique<agent::Agent>(process_, world_.random(), channel_, disk_, log_,
                                          std::move(options));
  // Now and then its file cannot be read: what was on sale stays on sale.
  const auto started = agent_->start(world_.chance(900) ? std::optional(supply()) : std::nullopt);
  laws_.expect(started.has_value(), 2,
               fmt::format("the agent of {} does not start from what it saved", id_.text));
  process_.after(seconds(1), [this] {
    if (agent_ != nullptr) agent_->set_supply(supply());
  });
}

agent::Supply SimProvider::supply() const {
  agent::Supply supply;
  for (const model::Pool& pool : pools_) {
    if (!pools_off_.contains(pool.id)) supply.pools.push_back(pool);
  }
  for (const model::Offer& offer : offers_) {
    if (!pools_off_.contains(offer.pool) && !offers_off_.contains(offer.id)) {
      supply.offers.push_back(offer);
    }
  }
  return supply;
}

void SimProvider::change_later() {
  process_.after(world_.between(seconds(8), seconds(12)), [this] {
    if (is_retired()) return;
    if (world_.chance(200)) change_something();
    if (world_.chance(50)) repeat_old();
    if (world_.chance(30)) renew();
    change_later();
  });
}

void SimProvider::change_something() {
  model::Pool& pool = pools_[world_.below(pools_.size())];
  model::Offer& offer = offers_[world_.below(offers_.size())];
  const auto dice = world_.below(100);
  if (dice < 15) {
    offer.price.unit_hour += 1000;
  } else if (dice < 25) {
    if (offers_off_.erase(offer.id) == 0) offers_off_.insert(offer.id);
  } else if (dice < 30 || pools_off_.contains(pool.id)) {
    if (pools_off_.erase(pool.id) == 0) pools_off_.insert(pool.id);
  } else {
    // Shrinks or grows: a truth that the book has to take.
    pool.capacity = pool.node.times(static_cast<int64_t>(world_.below(4)));
  }
  if (agent_ != nullptr) agent_->set_supply(supply());
}

void SimProvider::watch_request(const net::Request& request) {
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
    const bool here = contract.provider == id_ && contract.started && contract.live_units() > 0 &&
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

void SimProvider::check_agent() {
  if (agent_ == nullptr || needs_token()) return;
  const auto& known = agent_->state().contracts;
  for (const auto& [key, row] : laws_.rows().all()) {
    const auto* contract = held<model::Contract>(row.record);
    if (contract == nullptr || contract->provider != id_) continue;
    const bool runs = contract->started && contract->is_live();
    const bool fresh = contract->started && world_.now() - *contract->started < k_heard_by_all;
    const auto at = known.find(contract->id);
    laws_.expect(!runs || fresh || at != known.end(), 2,
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
  const Rows& rows = laws_.rows();
  const agent::Supply wanted = supply();
  const auto* epoch = rows.get<market::EpochRecord>(market::epoch_key());
  for (const model::Pool& pool : pools_) {
    const auto* row = rows.get<market::PoolRecord>(market::key_of(pool.id));
    if (pools_off_.contains(pool.id)) {
      laws_.expect(row == nullptr || row->withdrawn, 2, pool.id.text + " was never withdrawn");
      continue;
    }
    laws_.expect(row != nullptr && !row->withdrawn && row->pool == pool, 2,
                 pool.id.text + " is not on sale as its owner wants it");
    laws_.expect(row != nullptr && epoch != nullptr && row->epoch == epoch->epoch, 4,
                 pool.id.text + " was not confirmed in this epoch");
  }
  for (const model::Offer& offer : offers_) {
    const auto* row = rows.get<market::OfferRecord>(market::key_of(offer.id));
    const bool on =
        std::find(wanted.offers.begin(), wanted.offers.end(), offer) != wanted.offers.end();
    laws_.expect(on ? row != nullptr && !row->withdrawn && row->offer == offer
                    : row == nullptr || row->withdrawn,
                 2, offer.id.text + " is not as its owner wants it");
  }
}

}  // namespace spillway::sim
