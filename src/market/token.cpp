// Tokens: the right to join, made and cancelled by the operator.
#include "market/transitions.h"
#include "model/validation.h"

namespace spillway::market {
namespace {

constexpr Duration k_shortest_ttl = minutes(1);

tl::unexpected<Error> no_such_token() {
  return fail(Code::not_found, "token", "there is no such token",
              "list the tokens to see which there are");
}

Status check_form(const MakeToken& command, const Rules& rules) {
  SPILLWAY_TRY(check_token_id(command.id));
  SPILLWAY_TRY(model::at("name", check_cluster_id(command.name)));
  SPILLWAY_TRY(model::under("roles", validate(command.roles)));
  SPILLWAY_TRY(model::under("labels", validate(command.labels)));
  if (!command.labels.empty() && !is_cluster(command.roles)) {
    return fail(
        Code::invalid, "token for " + command.name,
        fmt::format("a token for {} has no labels: they are a cluster's", to_text(command.roles)),
        "leave the labels out");
  }
  if (command.ttl < k_shortest_ttl || command.ttl > rules.max_token_ttl) {
    return fail(
        Code::invalid, "token for " + command.name,
        fmt::format("a ttl of {} is out of range", to_text(command.ttl)),
        fmt::format("ask for {} to {}", to_text(k_shortest_ttl), to_text(rules.max_token_ttl)));
  }
  return {};
}

// The broker asks again when it does not know what became of the first time.
bool is_repeat(const TokenRecord& present, const MakeToken& command) {
  return present.name == command.name && present.roles == command.roles &&
         present.labels == command.labels && present.expires - present.made == command.ttl;
}

Event event_on(const TokenRecord& token, EventKind kind, Instant now) {
  return {.sequence = 0,
          .at = now,
          .kind = kind,
          .subject = token.id,
          .pool = {},
          .provider = {},
          .buyer = {},
          .detail = fmt::format("for {} as {}, until {}", token.name, to_text(token.roles),
                                to_text(token.expires))};
}

Answer answer_with(TokenRecord token, bool replayed) {
  Answer answer;
  answer.token = std::move(token);
  answer.replayed = replayed;
  return answer;
}

}  // namespace

Status check_sort(Workspace& workspace, const std::string& name, const model::Roles& roles) {
  const auto* identity = workspace.find<model::Identity>(identity_key(name));
  const auto* account = workspace.find<AccountRecord>(account_key(ClusterId(name)));
  const bool known = identity != nullptr || account != nullptr;
  const bool was_cluster =
      account != nullptr || (identity != nullptr && is_cluster(identity->roles));
  if (!known || was_cluster == is_cluster(roles)) return {};
  return fail(Code::conflict, "identity " + name,
              was_cluster ? "it is a cluster, and stays one"
                          : fmt::format("it is {}, and no cluster", to_text(identity->roles)),
              "choose another name");
}

Result<Answer> run(Workspace& workspace, const MakeToken& command, const Context& context) {
  SPILLWAY_TRY(check_form(command, context.rules));
  const Key key = token_key(command.id);
  if (const auto* present = workspace.find<TokenRecord>(key); present != nullptr) {
    if (is_repeat(*present, command)) return answer_with(*present, true);
    return fail(Code::conflict, "token " + command.id, "there is another one with this id",
                "make a new secret");
  }
  SPILLWAY_TRY(check_sort(workspace, command.name, command.roles));
  TokenRecord token;
  token.id = command.id;
  token.name = command.name;
  token.roles = command.roles;
  token.labels = command.labels;
  token.made = context.now;
  token.expires = context.now + command.ttl;
  token.forget_at = token.expires + context.rules.token_retention;
  workspace.emit(event_on(token, EventKind::token_made, context.now));
  workspace.put(key, token);
  return answer_with(std::move(token), false);
}

Result<Answer> run(Workspace& workspace, const CancelToken& command, const Context& context) {
  const auto* token = workspace.find<TokenRecord>(token_key(command.id));
  if (token == nullptr) return no_such_token();
  if (token->is_used()) {
    return fail(Code::conflict, "token " + command.id,
                fmt::format("{} has joined with it already", token->name),
                fmt::format("revoke {} instead", token->name));
  }
  workspace.emit(event_on(*token, EventKind::token_cancelled, context.now));
  workspace.erase(token_key(command.id));
  return Answer{};
}

Result<Answer> run(Workspace& workspace, const FindToken& command, const Context&) {
  const auto* token = workspace.find<TokenRecord>(token_key(command.id));
  if (token == nullptr) return no_such_token();
  return answer_with(*token, false);
}

}  // namespace spillway::market
