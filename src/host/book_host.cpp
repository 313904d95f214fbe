#include "host/book_host.h"

#include <algorithm>

#include "market/mutants.h"

namespace spillway::host {
namespace {

// How long a row that could not be attended to is left alone.
constexpr Duration k_rest = minutes(1);

Scan due_scan(market::Kind kind, Instant until, int32_t limit) {
  Scan scan;
  scan.kind = kind;
  scan.by = Scan::By::due;
  scan.due_until = until;
  scan.limit = limit;
  return scan;
}

}  // namespace

BookHost::BookHost(Loop& loop, Store& store, Random& random, BookOptions options)
    : loop_(loop), store_(store), random_(random), options_(options) {}

BookHost::~BookHost() = default;

void BookHost::start() {
  pump();
  beat_later();
  attend_later();
  forget_later();
}

void BookHost::submit(market::Command command, Reply reply, market::Origin origin) {
  if (queue_.size() >= options_.max_queue) {
    reply(fail(Code::unavailable, "market", fmt::format("{} commands are waiting", queue_.size()),
               "try again in a moment, with the same key"));
    return;
  }
  auto* hold = std::get_if<market::Hold>(&command);
  // One with more lines than are allowed is refused, and gets no ids for the trouble.
  if (hold != nullptr && hold->lines.size() <= static_cast<size_t>(options_.rules.max_lines)) {
    hold->fresh.clear();
    const Instant now = loop_.now();
    for (size_t i = 0; i < hold->lines.size(); ++i) {
      // One after the other: in which order arguments are worked out is the compiler's to choose.
      const uint64_t low = random_.next();
      const uint64_t high = random_.next();
      hold->fresh.push_back(make_contract_id(now, high, low));
    }
  }
  queue_.push_back({std::move(command), std::move(reply), std::move(origin)});
  // Posted, so that all that arrives in one turn of the loop shares a batch.
  if (!batch_) loop_.post(lifeline_.guard([this] { pump(); }));
}

void BookHost::pump() {
  if (batch_ || (queue_.empty() && !beat_due_)) return;
  begin_batch();
}

void BookHost::begin_batch() {
  std::vector<Order> orders;
  // The beat goes first: if the market was away, everything in this batch must know.
  if (std::exchange(beat_due_, false)) orders.push_back({market::Beat{!has_beaten_}, nullptr, {}});
  const size_t most = alone_ > 0 ? orders.size() + 1 : options_.max_batch;
  while (!queue_.empty() && orders.size() < most) {
    orders.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  if (alone_ > 0) --alone_;
  batch_ = std::make_unique<Batch>(std::move(orders), options_.rules);
  tries_ = 0;
  load_more();
}

void BookHost::load_more() {
  Load load = batch_->wants();
  Load listed;  // rows come with their keys; of lists it must be known which they are
  listed.scans = load.scans;
  store_.load(std::move(load), lifeline_.guard([this, listed](Result<Snapshot> snapshot) {
    if (!snapshot) return try_again(snapshot.error());
    store_ahead_ = snapshot->now - loop_.now();
    // Since our last beat the market may have been away without anyone having noted it:
    // a batch that waited through an outage must not judge leases as if there had been
    // none (law 4).
    if (!batch_->beats() && snapshot->now - last_beat_ > options_.rules.outage_after) {
      batch_->beat_first();
      return load_more();
    }
    batch_->take(listed, std::move(*snapshot));
    const Load more = batch_->wants();
    if (more.keys.empty() && more.scans.empty()) {
      finish_batch();
    } else {
      load_more();
    }
  }));
}

void BookHost::finish_batch() {
  if (batch_->changes_nothing()) {
    batch_->reply_all();
    end_batch();
    return;
  }
  if (market::mutant(market::Mutant::acknowledge_early)) batch_->reply_all();
  commit_batch();
}

void BookHost::commit_batch() {
  auto commit = std::make_shared<Commit>(batch_->commit());
  store_.commit(*commit, lifeline_.guard([this, commit](Result<Committed> committed) {
    if (!committed) return try_again(committed.error());
    health_ = {};  // a full disk can still be read: only who has written knows that it is well
    if (batch_->beats()) {
      last_beat_ = commit->at;
      has_beaten_ = true;
    }
    for (const Listener& listener : listeners_) listener(*commit, *committed);
    batch_->reply_all();
    end_batch();
  }));
}

// A row that cannot be read must fail those who need it, and nobody else.
void BookHost::part_batch() {
  std::vector<Order> orders = batch_->take_orders();
  alone_ += orders.size();
  queue_.insert(queue_.begin(), std::make_move_iterator(orders.begin()),
                std::make_move_iterator(orders.end()));
  end_batch();
}

void BookHost::try_again(const Error& error) {
  if (error.code == Code::unavailable) health_ = tl::unexpected(error);
  if (error.code == Code::internal && batch_->size() > 1) return part_batch();
  if (error.code == Code::internal) tries_ = options_.max_tries;
  if (++tries_ >= options_.max_tries) {
    const bool lost_races = error.code == Code::conflict;
    batch_->fail_all(lost_races
                         ? Error{Code::contended, "market", "too many ask for the same at once",
                                 "try again in a moment, with the same key"}
                         : error);
    end_batch();
    return;
  }
  batch_->restart();
  // The first conflict is worth an immediate second try; after that two brokers must get apart.
  if (error.code == Code::conflict && tries_ == 1) return load_more();
  const int64_t ceiling =
      std::min(options_.max_pause.ms, options_.first_pause.ms << std::min(tries_, 20));
  const auto pause = static_cast<int64_t>(below(random_, static_cast<uint64_t>(ceiling))) + 1;
  loop_.after(milliseconds(pause), lifeline_.guard([this] { load_more(); }));
}

void BookHost::end_batch() {
  // Kept until the next turn: we may be inside one of its callbacks.
  loop_.post([done = std::shared_ptr<Batch>(std::move(batch_))] {});
  pump();
}

void BookHost::beat_later() {
  loop_.after(options_.beat_every, lifeline_.guard([this] {
    beat_due_ = true;
    pump();
    beat_later();
  }));
}

void BookHost::attend_later() {
  // Jitter, so that brokers on one store do not all reach for the same rows.
  const auto jitter =
      static_cast<int64_t>(below(random_, static_cast<uint64_t>(options_.attend_every.ms / 2 + 1)));
  loop_.after(options_.attend_every + milliseconds(jitter), lifeline_.guard([this] {
    find_due();
    attend_later();
  }));
}

void BookHost::find_due() {
  // While what was found last time waits, finding it once more would only fill the queue.
  if (attending_ > 0) return;
  attending_ = 1;
  const Instant now = loop_.now() + store_ahead_;
  std::erase_if(resting_, [&](const auto& entry) { return entry.second <= now; });
  // Look past those that failed: however many there are, they must not hide what comes after them.
  const auto most = options_.attend_at_once + static_cast<int32_t>(resting_.size());
  Load load;
  for (const auto kind : {market::Kind::contract, market::Kind::pool, market::Kind::request,
                          market::Kind::token, market::Kind::mailbox}) {
    load.scans.push_back(due_scan(kind, now, most));
  }
  store_.load(std::move(load), lifeline_.guard([this](Result<Snapshot> snapshot) {
    attending_ = 0;
    if (snapshot) enqueue_due(*snapshot);  // else: the next round will do
  }));
}

void BookHost::enqueue_due(const Snapshot& snapshot) {
  store_ahead_ = snapshot.now - loop_.now();
  for (const auto& rows : snapshot.found) {
    for (const Row& row : rows) {
      if (resting_.contains(row.key)) continue;
      // Not bound by max_queue: a flood of buyers must not keep leases from ending. There are never
      // more of these than five times attend_at_once.
      ++attending_;
      queue_.push_back({market::Attend{row.key},
                        lifeline_.guard([this, key = row.key](const Result<market::Answer>& done) {
                          --attending_;
                          if (!done) resting_[key] = loop_.now() + store_ahead_ + k_rest;
                        }),
                        {}});
    }
  }
  pump();
}

void BookHost::forget_later() {
  loop_.after(options_.forget_every, lifeline_.guard([this] {
    forget_events(0);
    forget_later();
  }));
}

// In small steps, until one finds nothing more: a commit that waits is not kept waiting for long.
void BookHost::forget_events(int64_t first_kept) {
  const Instant before = loop_.now() + store_ahead_ - options_.keep_events;
  store_.forget_events(before, options_.forget_at_once,
                       lifeline_.guard([this, first_kept](Result<int64_t> first) {
                         // After a failure the next round will do.
                         if (first && *first != first_kept) forget_events(*first);
                       }));
}

}  // namespace spillway::host
