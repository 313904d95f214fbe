#include "sim/broker.h"

#include <charconv>

#include "sim/sim_exchange.h"

namespace spillway::sim {
namespace {

constexpr Duration k_look_every = seconds(5);
// So long after a commit every broker has heard of it, if the store has answered it all the time.
constexpr Duration k_known_everywhere = seconds(15);

services::HubOptions hub_options() {
  services::HubOptions options;
  options.most_unsent = 4096;  // so that a slow reader is seen to be one
  options.page = 50;
  return options;
}

host::EventLogOptions log_options() {
  host::EventLogOptions options;
  options.keep = 400;  // so that streams are fed from the store too
  options.page = 200;
  return options;
}

bool is_cut_off(const net::Peer& peer, const model::Identity& identity) {
  return identity.revoked || peer.certificate->key != identity.key;
}

}  // namespace

struct SimBroker::Running {
  Running(Process& process, host::Store& store, const host::BookOptions& options)
      : issuer(process.world().random()),
        book(process, store, process.world().random(), options),
        feed(process, store),
        log(process, store, log_options()),
        directory(process, store, log),
        hub(process, store, log, hub_options()),
        desk{process,
             process.world().random(),
             store,
             book,
             feed,
             directory,
             log,
             hub,
             issuer,
             metrics,
             services::RequestMetrics(metrics),
             journal,
             services::Caps{},
             false},
        api(desk, services::ApiLimits{}) {}

  SimIssuer issuer;
  services::Metrics metrics;
  services::NoLog journal;
  host::BookHost book;
  host::CatalogueFeed feed;
  host::EventLog log;
  host::Directory directory;
  services::EventHub hub;
  services::Desk desk;
  services::Api api;
};

SimBroker::SimBroker(World& world, Network& network, SimStore& store, Address store_at, Address at,
                     Laws& laws, host::BookOptions options)
    : process_(world),
      address_(at),
      connection_(process_, at, network, store, store_at),
      laws_(laws),
      options_(options) {
  restart();
}

SimBroker::~SimBroker() { alive_.reset(); }

void SimBroker::crash() {
  process_.crash();
  alive_.reset();
  pipes_.crash();
  running_.reset();
}

void SimBroker::restart() {
  process_.restart();
  alive_ = std::make_shared<const bool>(true);
  since_ = process_.world().now();
  running_ = std::make_unique<Running>(process_, connection_, options_);
  Running& now = *running_;
  now.book.listen([&now](const host::Commit& commit, const host::Committed& committed) {
    now.feed.learn(commit, committed);
    now.directory.learn(commit);
    now.log.learn(commit, committed);
  });
  now.directory.listen([this, &now](const model::Identity& identity) {
    const std::string uri = fmt::format("spillway://{}/{}", now.issuer.federation(), identity.name);
    pipes_.cut([&](const net::Peer& peer) {
      return peer.certificate != nullptr && peer.certificate->uri == uri &&
             is_cut_off(peer, identity);
    });
  });
  follow_log();
  now.log.start();
  now.directory.start();
  now.feed.start();
  now.hub.start();
  now.book.start();
  look_after_certificates();
}

// A server that cuts somebody off does so also while it still reads what their stream begins with.
void SimBroker::begins(const std::shared_ptr<Pipe>& pipe) {
  pipes_.add(pipe);
  const net::Peer& peer = pipe->asked().peer;
  const auto known = running_->directory.find(name_of(peer));
  if (peer.certificate != nullptr && known != nullptr && is_cut_off(peer, *known)) pipe->cut();
}

void SimBroker::follow_log() {
  running_->log.on_jump([this](int64_t last) { last_heard_ = last; });
  running_->log.listen([this](const market::Event& event) {
    laws_.expect(event.sequence == last_heard_ + 1, 2, "an event was left out or told twice");
    last_heard_ = event.sequence;
    laws_.on_event(event);
  });
}

void SimBroker::look_after_certificates() {
  running_->hub.close_expired(process_.now());
  process_.after(k_look_every, [this] { look_after_certificates(); });
}

void SimBroker::set_up(const std::string& operator_name, const std::string& key) {
  const auto token = running_->issuer.make_token();
  const auto issued = running_->issuer.issue(request_for(key), operator_name, process_.now());
  const market::Origin origin{operator_name, "broker-init"};
  running_->book.submit(
      market::MakeToken{token->id, operator_name, {model::Role::operator_}, {}, minutes(5)},
      [](const Result<market::Answer>&) {}, origin);
  running_->book.submit(
      market::Join{token->id, issued->key, issued->certificate, issued->not_after},
      [](const Result<market::Answer>&) {}, origin);
}

const host::Directory* SimBroker::directory() const {
  return running_ == nullptr ? nullptr : &running_->directory;
}

size_t SimBroker::streams() const { return running_ == nullptr ? 0 : running_->hub.streams(); }

// Whether this broker must know by now that `name` is revoked: it has said so itself, or another
// has, long enough ago.
bool SimBroker::knows_revoked(const std::string& name) {
  const auto* identity = laws_.rows().get<model::Identity>(market::identity_key(name));
  if (identity == nullptr || !identity->revoked) return false;
  const auto here = revoked_here_.find(name);
  if (here != revoked_here_.end() && here->second == *identity->revoked) return true;
  const Instant now = process_.world().now();
  const auto since = laws_.revoked_since(name);
  return since && now - *since > k_known_everywhere && now - since_ > k_known_everywhere &&
         now - connection_.last_failure() > k_known_everywhere;
}

void SimBroker::arrive(const std::shared_ptr<Asked>& asked,
                       std::shared_ptr<net::Exchange> exchange) {
  asked->must_refuse = asked->peer.certificate != nullptr && knows_revoked(name_of(asked->peer));
  running_->api.handle(asked->request, asked->peer, std::move(exchange));
}

void SimBroker::leaves(const Asked& asked, const net::Response& response) {
  const std::string name = name_of(asked.peer);
  const bool open_to_all = asked.request.target == "/v1/join";
  const bool refused =
      response.status == 401 || response.status == 503 || response.status == 429 || open_to_all;
  laws_.expect(!asked.must_refuse || refused, 5,
               fmt::format("{} is revoked and was answered {} to {} {}", name, response.status,
                           asked.request.method, asked.request.target));
  process_.world().note(asked.request.target, response.status);
  if (const auto revoked = laws_.on_response(name, asked.request, response)) {
    revoked_here_[revoked->name] = *revoked->revoked;
    // Whoever hears from a broker that somebody is revoked may count on it there, at once.
    const auto known = running_->directory.find(revoked->name);
    laws_.expect(!running_->directory.is_ready() ||
                     (known != nullptr && (known->revoked || known->since >= *revoked->revoked)),
                 2, fmt::format("{} is revoked, and its broker does not know", revoked->name));
  }
}

void SimBroker::tells(Hearing& hearing, std::string_view bytes) {
  constexpr std::string_view k_id = "id: ";
  if (!bytes.starts_with(k_id)) return;
  int64_t sequence = 0;
  std::from_chars(bytes.data() + k_id.size(), bytes.data() + bytes.size(), sequence);
  laws_.on_told(hearing.name, hearing.last, sequence);
  laws_.expect(!knows_revoked(hearing.name), 5,
               fmt::format("{} is revoked and was told of event {}", hearing.name, sequence));
  hearing.last = sequence;
}

void SimBroker::dropped(const Asked& asked) {
  laws_.expect(false, 7,
               fmt::format("{} {} was never answered", asked.request.method, asked.request.target));
}

}  // namespace spillway::sim
