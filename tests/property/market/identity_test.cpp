// Tokens and identities under random commands, against a model that knows only what was promised:
// the first key in time has a token, a renewal needs the key on record, and nobody who is revoked
// gets anything but by another token.
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/sample_records.h"
#include "support/test_book.h"

namespace spillway::market {
namespace {

using namespace test;
using model::Role;

struct Step {
  int deed = 0;
  int token = 0;
  int name = 0;
  int key = 0;
  int new_key = 0;
  bool twice = false;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << fmt::format("{{{}, {}, {}, {}, {}, {}}}", step.deed, step.token, step.name,
                            step.key, step.new_key, step.twice);
}

rc::Gen<std::vector<Step>> any_steps() {
  return rc::gen::container<std::vector<Step>>(
      rc::gen::build<Step>(rc::gen::set(&Step::deed, rc::gen::inRange(0, 9)),
                           rc::gen::set(&Step::token, rc::gen::inRange(0, 4)),
                           rc::gen::set(&Step::name, rc::gen::inRange(0, 3)),
                           rc::gen::set(&Step::key, rc::gen::inRange(0, 4)),
                           rc::gen::set(&Step::new_key, rc::gen::inRange(0, 4)),
                           rc::gen::set(&Step::twice, rc::gen::arbitrary<bool>())));
}

const std::vector<std::string> k_names{"edge-1", "edge-2", "boss"};

class Members {
 public:
  void act(const Step& step) {
    const auto command = command_of(step);
    if (!command) return;
    const auto answer = book_.run(*command);
    check(*command, answer);
    if (!step.twice) return;
    // Nobody heard the answer: asked again, it is the same, and nothing happens.
    const auto before = book_.picture();
    const auto again = book_.run(*command);
    if (!std::holds_alternative<CancelToken>(*command)) {
      RC_ASSERT(again.has_value() == answer.has_value());
      RC_ASSERT((!answer || again->identity == answer->identity));
      RC_ASSERT((!answer || again->token == answer->token));
    }
    RC_ASSERT(book_.picture() == before);
  }

 private:
  std::optional<Command> command_of(const Step& step) {
    const std::string token = fmt::format("t-{}", step.token);
    const std::string& name = k_names[static_cast<size_t>(step.name)];
    const std::string certificate = sample_certificate(++certificates_);
    switch (step.deed) {
      case 0:
      case 1: {
        const auto role = name == "boss" ? Role::operator_ : Role::provider;
        return MakeToken{token, name, {role}, {}, minutes(2 + step.key)};
      }
      case 2:
      case 3:
        return Join{token, sample_key(step.key), certificate, book_.now + hours(24)};
      case 4:
        return Recertify{name, sample_key(step.key), sample_key(step.new_key), certificate,
                         book_.now + hours(24)};
      case 5:
        return Revoke{name};
      case 6:
        return step.key == 0 ? std::optional<Command>(CancelToken{token}) : FindToken{token};
      case 7: {
        model::Pool pool = pool_of(3);
        pool.id = PoolId(fmt::format("{}/pool-{}", name, step.key % 2));
        return PublishPool{ClusterId(name), pool, ++sequence_, minutes(30), {}, 0, 0};
      }
      default:
        book_.pass(minutes(step.key * step.key * 5));
        book_.attend();
        check_pools();
        return std::nullopt;
    }
  }

  void check(const Command& command, const Result<Answer>& answer) {
    if (const auto* join = std::get_if<Join>(&command)) check_join(*join, answer);
    if (const auto* recertify = std::get_if<Recertify>(&command)) check_renewal(*recertify, answer);
    if (const auto* revoke = std::get_if<Revoke>(&command)) {
      RC_ASSERT(answer.has_value() == members_.contains(revoke->name));
      if (answer && !answer->replayed) members_[revoke->name].revoked = book_.now;
    }
    if (const auto* make = std::get_if<MakeToken>(&command); make != nullptr && answer) {
      if (!answer->replayed)
        tokens_[make->id] = {make->name, book_.now, book_.now + make->ttl, {}, {}};
    }
    if (const auto* cancel = std::get_if<CancelToken>(&command); cancel != nullptr && answer) {
      RC_ASSERT(tokens_[cancel->id].key.empty());
      tokens_.erase(cancel->id);
    }
    for (const auto& [name, member] : members_) {
      const auto* identity = book_.get<model::Identity>(identity_key(name));
      RC_ASSERT(identity != nullptr);
      RC_ASSERT(identity->key == member.key);
      RC_ASSERT(identity->revoked == member.revoked);
    }
    check_pools();
  }

  void check_join(const Join& join, const Result<Answer>& answer) {
    // What the book has forgotten by itself is forgotten here.
    if (book_.get<TokenRecord>(token_key(join.token)) == nullptr) tokens_.erase(join.token);
    const auto at = tokens_.find(join.token);
    if (at == tokens_.end()) {
      RC_ASSERT(!answer);
      return;
    }
    Token& token = at->second;
    const bool first = token.key.empty();
    RC_ASSERT(answer.has_value() == admits(token, join.key));
    if (!answer) return;
    RC_ASSERT(answer->replayed == !first);
    if (first) {
      token.key = join.key;
      token.certificate = join.certificate;
      members_[token.name] = {join.key, {}};
    }
    RC_ASSERT(answer->identity->key == join.key);
    RC_ASSERT(answer->identity->certificate == token.certificate);
  }

  struct Token {
    std::string name;
    Instant made;
    Instant expires;
    std::string key;
    std::string certificate;
  };
  struct Member {
    std::string key;
    std::optional<Instant> revoked;
  };

  // For its first key, in time; and not when it was made before its name was revoked.
  bool admits(const Token& token, const std::string& key) const {
    const auto at = members_.find(token.name);
    const bool barred = at != members_.end() && at->second.revoked > token.made;
    return !barred && (token.key.empty() ? book_.now < token.expires : token.key == key);
  }

  void check_renewal(const Recertify& command, const Result<Answer>& answer) {
    const auto at = members_.find(command.name);
    const bool right = at != members_.end() && !at->second.revoked &&
                       (at->second.key == command.key || at->second.key == command.new_key);
    RC_ASSERT(answer.has_value() == right);
    if (answer) at->second.key = command.new_key;
  }

  // Who is revoked has nothing on sale.
  void check_pools() {
    for (const auto& [key, stored] : book_.rows().all()) {
      const auto* pool = book_.get<PoolRecord>(key);
      if (pool == nullptr) continue;
      const auto at = members_.find(pool->provider.text);
      RC_ASSERT((at == members_.end() || !at->second.revoked || pool->withdrawn));
    }
  }

  TestBook book_;
  std::map<std::string, Token> tokens_;
  std::map<std::string, Member> members_;
  int certificates_ = 0;
  int64_t sequence_ = 0;
};

RC_GTEST_PROP(Identities, KeepTheirPromises, ()) {
  Members members;
  for (const Step& step : *any_steps()) members.act(step);
}

}  // namespace
}  // namespace spillway::market
