#include "sim/party.h"

namespace spillway::sim {

namespace {
// Another broker may not know yet who has just joined.
constexpr Duration k_turned_away = seconds(10);
}  // namespace

std::vector<Door*> Surroundings::doors() const {
  std::vector<Door*> doors;
  for (const auto& broker : brokers) doors.push_back(broker.get());
  return doors;
}

Party::Party(Surroundings& around, Address at, Person person)
    : around_(around),
      world_(around.world),
      laws_(around.laws),
      process_(around.world),
      channel_(process_, at, around.network, around.doors()),
      client_(channel_),
      address_(at),
      person_(std::move(person)),
      letters_(process_, around.laws, client_) {
  channel_.watch_answers([this](int status) { watch_status(status); });
  signs_ = model::is_cluster(person_.roles) && world_.chance(800);
  around.parties.push_back(this);
  if (around.liar == nullptr) return;
  channel_.alter_answers([this](const net::Request& request, net::Response& response) {
    around_.liar->alter(name(), request, response);
  });
}

agent::Signatory Party::signatory() const {
  return *agent::Signatory::of(key().key, "sim", ClusterId(name()));
}

// Operators tell each other, by another way than the brokers: at once where a broker may lie, after
// a while where peers have met the key before.
void Party::tell_key() {
  if (!signs_) return;
  const bool at_once = around_.liar != nullptr;
  const Duration wait = at_once ? Duration{} : world_.between(seconds(1), minutes(2));
  world_.after(wait, [this, at_once, fingerprint = key().fingerprint] {
    for (Party* peer : around_.parties) {
      agent::TrustBook& book = peer->papers_.trust;
      const ClusterId self(name());
      if (peer == this || (!at_once && !book.pins.contains(self))) continue;
      const Status told = book.pins.contains(self)
                              ? agent::replace_pin(book, self, fingerprint, world_.now())
                              : agent::add_pin(book, self, fingerprint, world_.now());
      laws_.expect(told.has_value(), 7, "a pin is refused");
    }
  });
}

void Party::crash() {
  process_.crash();
  ++turn_;
  stream_.reset();
  following_ = false;
  turned_away_ = false;
  is_denied_ = false;
  letters_.end();
  end();
}

void Party::vanish() {
  if (process_.is_up()) crash();
  vanished_ = true;
}

void Party::restart() {
  if (vanished_) return;
  process_.restart();
  start();
}

void Party::start() {
  channel_.move_on();
  if (!token_.empty()) join(token_, *token_key_, 20);
  if (has_joined()) begin_letters();
  begin();
}

void Party::begin_letters() {
  if (signs_ && !has_agent()) letters_.begin(signatory(), papers_);
}

void Party::watch_status(int status) {
  if (status != 401) {
    is_denied_ = status == 503 && is_denied_;
    return;
  }
  if (!std::exchange(is_denied_, true)) denied_since_ = world_.now();
  if (world_.now() - denied_since_ > k_turned_away) turned_away_ = true;
}

void Party::invite(const std::string& token) {
  if (!process_.is_up()) return;
  token_ = token;
  token_key_ = make_key(world_.random());
  join(token_, *token_key_, 20);
}

void Party::join(const std::string& token, const SimKey& key, int tries) {
  insist<wire::CertificateAnswer>(
      [this, token, key](wire::Then<wire::CertificateAnswer> then) {
        client_.join({token, request_for(key.fingerprint)}, std::move(then));
      },
      [this, token, key](const Result<wire::CertificateAnswer>& told) {
        if (token != token_) return;
        token_.clear();
        if (told) take_certificate(told->certificate, key);
      },
      tries);
}

void Party::take_certificate(const std::string& text, const SimKey& key) {
  const auto read = read_certificate(text);
  laws_.expect(read != nullptr && read->key == key.fingerprint && read->uri.ends_with("/" + name()),
               5, fmt::format("{} got a certificate for something else", name()));
  const bool is_another = key_ && key_->fingerprint != key.fingerprint;
  const bool is_new = !key_ || is_another;
  key_ = key;
  if (is_new) tell_key();
  certificate_ = text;
  turned_away_ = false;
  is_denied_ = false;
  channel_.show(read);
  if (is_new && !is_another) begin_letters();
  on_certificate();
  if (!is_another) return;
  // Whoever joins anew is started anew.
  world_.after({}, [this] {
    if (!process_.is_up()) return;
    crash();
    restart();
  });
}

// With the same key, as agents do, or now and then with another. Whose answer is lost then has a
// key that no broker takes, and joins again.
void Party::renew() {
  if (!process_.is_up() || certificate_.empty()) return;
  const SimKey key = world_.chance(150) ? make_key(world_.random()) : *key_;
  client_.recertify({request_for(key.fingerprint)},
                    [this, key](const Result<wire::CertificateAnswer>& told) {
                      if (told) take_certificate(told->certificate, key);
                    });
}

void Party::follow() {
  if (std::exchange(following_, true)) return;
  open_stream();
}

void Party::follow_later(Duration longest) {
  ++turn_;
  process_.after(world_.between(milliseconds(200), longest), [this, turn = turn_] {
    if (turn == turn_) open_stream();
  });
}

void Party::open_stream() {
  const uint64_t turn = ++turn_;
  stream_.reset();
  if (last_event_ < 0) {
    client_.snapshot([this, turn](const Result<wire::SnapshotAnswer>& snapshot) {
      if (turn != turn_) return;
      if (snapshot) last_event_ = snapshot->sequence;
      follow_later(seconds(4));
    });
    return;
  }
  wire::EventCalls calls;
  calls.on_event = [this, turn](const wire::EventBody& event) {
    if (turn != turn_) return;
    laws_.on_told(name(), last_event_, event.sequence);
    last_event_ = event.sequence;
    letters_.on_event(event);
    on_event(event);
  };
  calls.on_end = [this, turn](const Error& why, const wire::SnapshotAnswer* snapshot) {
    if (turn != turn_) return;
    if (snapshot != nullptr) {
      laws_.expect(snapshot->sequence >= last_event_, 2,
                   fmt::format("{} was sent back from event {} to {}", name(), last_event_,
                               snapshot->sequence));
      last_event_ = snapshot->sequence;
    }
    follow_later(why.code == Code::denied ? seconds(20) : seconds(4));
  };
  stream_ = client_.follow(last_event_, std::move(calls));
}

void Party::check_settled() {
  laws_.expect(has_joined() && !turned_away_, 3, fmt::format("{} is still left out", name()));
  if (following_) laws_.check_told_all(name(), last_event_);
}

}  // namespace spillway::sim
