// Two members, the book between them, and everything that may go wrong at random: answers lost,
// members killed before or after they have saved, messages that expire. Against a model that knows
// only what was promised: in order, each once, under one number one content, bounded, and complete
// when nothing expired.
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/corresponding.h"

namespace spillway::agent {
namespace {

using test::Corresponding;
using test::k_buyer;
using test::k_seller;

struct Step {
  int deed = 0;
  bool buyer = false;  // who does it
  int amount = 0;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << fmt::format("{{{}, {}, {}}}", step.deed, step.buyer, step.amount);
}

rc::Gen<std::vector<Step>> any_life() {
  return rc::gen::container<std::vector<Step>>(
      rc::gen::build<Step>(rc::gen::set(&Step::deed, rc::gen::inRange(0, 9)),
                           rc::gen::set(&Step::buyer, rc::gen::arbitrary<bool>()),
                           rc::gen::set(&Step::amount, rc::gen::inRange(0, 8))));
}

class Two {
 public:
  Two() : relay_(loop_), buyer_(loop_, relay_, k_buyer), seller_(loop_, relay_, k_seller) {
    id_ = test::signed_by_both(relay_.book);
    agree(relay_, id_, buyer_, seller_);
    // Events are heard by who is alive; who starts asks by itself.
    relay_.tells = [this](const market::Event& event) {
      wire::EventBody body;
      body.kind = to_text(event.kind);
      body.subject = event.subject;
      (event.buyer.text.empty() ? seller_ : buyer_).mailbox().on_event(body);
    };
    buyer_.start();
    seller_.start();
  }

  void act(const Step& step) {
    Corresponding& who = step.buyer ? buyer_ : seller_;
    switch (step.deed) {
      case 0:
      case 1:
      case 2:
        for (int i = 0; i <= step.amount; ++i) send(who);
        break;
      case 3:  // some requests never arrive from now on, or all do
        relay_.never_gets = [this, one_in = step.amount](const net::Request&) {
          return one_in > 0 && ++answers_ % (one_in + 1) == 0;
        };
        break;
      case 4:
        who.mailbox().look_at(id_);
        break;
      case 5:  // some answers are lost from now on, or none
        relay_.loses = [this, one_in = step.amount](const net::Request&) {
          return one_in > 0 && ++answers_ % (one_in + 1) == 0;
        };
        break;
      case 6:
        kill(who);
        break;
      case 7:  // the end comes before anything more is saved
        who.disk_works = false;
        if (step.amount % 2 == 0) send(who);
        who.mailbox().look_at(id_);
        loop_.run_for(milliseconds(step.amount));
        kill(who);
        break;
      case 8:
        if (step.amount != 0) break;
        expiry_ = true;
        loop_.run_for(minutes(11));
        relay_.book.now = loop_.now();
        relay_.book.attend();
        break;
    }
    loop_.run_for(milliseconds(step.amount * 10));
    check(buyer_, seller_);
    check(seller_, buyer_);
  }

  void settle() {
    relay_.loses = [](const net::Request&) { return false; };
    relay_.never_gets = [](const net::Request&) { return false; };
    loop_.run_for(seconds(90));
    check(buyer_, seller_);
    check(seller_, buyer_);
    for (Corresponding* who : {&buyer_, &seller_}) {
      RC_ASSERT(relay_.waiting(who->own(), id_).empty());
      const auto& all = who->state.mailbox.contracts;
      RC_ASSERT((all.empty() || all.at(id_).unsent.empty()));
    }
    if (expiry_) return;
    RC_ASSERT(buyer_.handed().size() == used_by(seller_));
    RC_ASSERT(seller_.handed().size() == used_by(buyer_));
  }

 private:
  // How many numbers it has used: each is a message that it has written down.
  size_t used_by(const Corresponding& who) const {
    const auto found = who.state.mailbox.contracts.find(id_);
    return found == who.state.mailbox.contracts.end() ? 0 : static_cast<size_t>(found->second.sent);
  }

  void send(Corresponding& who) {
    const std::string body = fmt::format("{}-{}", who.own().text, ++bodies_);
    const auto number = who.mailbox().send(id_, "step", body);
    if (!number) {
      RC_ASSERT(number.error().code == Code::over_quota);
      return;
    }
    // Under a number that was lost with its sender, before anybody heard of it, there may be
    // another.
    sent_[who.own()][*number].push_back(body);
  }

  void kill(Corresponding& who) {
    who.kill();
    who.disk_works = true;
    who.start();
    // As every agent does with each contract that it verifies at its start: whoever was killed
    // before it had saved anything of it knows of no messages.
    who.mailbox().look_at(id_);
  }

  void check(const Corresponding& receiver, const Corresponding& sender) {
    RC_ASSERT(relay_.waiting(receiver.own(), id_).size() <= relay_.book.rules.max_waiting);
    int64_t last = 0;
    for (const auto& [number, body] : receiver.handed()) {
      RC_ASSERT(number > last);
      last = number;
      const auto& meant = sent_[sender.own()][number];
      RC_ASSERT(std::find(meant.begin(), meant.end(), body) != meant.end());
      // Whatever was lost in between: once shown, a number has one content.
      const auto [shown, is_new] = shown_[receiver.own()].try_emplace(number, body);
      RC_ASSERT((is_new || shown->second == body));
    }
    for (const int64_t refused : receiver_counts(receiver)) RC_ASSERT(refused == 0);
  }

  // All but replays: an acknowledgement that was lost leads to those.
  static std::vector<int64_t> receiver_counts(const Corresponding& receiver) {
    std::vector<int64_t> counts;
    for (size_t i = 0; i < k_refusals; ++i) {
      if (static_cast<Refusal>(i) == Refusal::replayed) continue;
      counts.push_back(receiver.refused(static_cast<Refusal>(i)));
    }
    return counts;
  }

  test::ManualLoop loop_;
  test::LyingRelay relay_;
  Corresponding buyer_;
  Corresponding seller_;
  ContractId id_;
  std::map<ClusterId, std::map<int64_t, std::vector<std::string>>> sent_;
  std::map<ClusterId, std::map<int64_t, std::string>> shown_;
  int bodies_ = 0;
  int answers_ = 0;
  bool expiry_ = false;
};

RC_GTEST_PROP(Correspondence, InOrderEachOnceAndComplete, ()) {
  const auto life = *any_life();
  Two two;
  for (const Step& step : life) two.act(step);
  two.settle();
}

}  // namespace
}  // namespace spillway::agent
