// Identities: joining with a token, another certificate in time, and the end of it.
//
// Answers get lost, so whoever asks again with the same key gets what it was given before. That is
// all that is repeated: a token serves one key, and a certificate is renewed only for the key on
// record.
#include "market/mutants.h"
#include "market/pool_state.h"
#include "market/transitions.h"
#include "model/validation.h"

namespace spillway::market {
namespace {

using model::Identity;

Event event_on(const Identity& identity, EventKind kind, Instant now, std::string detail) {
  return {.sequence = 0,
          .at = now,
          .kind = kind,
          .subject = identity.name,
          .pool = {},
          .provider = {},
          .buyer = is_cluster(identity.roles) ? ClusterId(identity.name) : ClusterId(),
          .detail = std::move(detail)};
}

Answer answer_with(Identity identity, bool replayed = false) {
  Answer answer;
  answer.identity = std::move(identity);
  answer.replayed = replayed;
  return answer;
}

Status check_credentials(const std::string& key, const std::string& certificate,
                         Instant not_after) {
  SPILLWAY_TRY(model::check_key_fingerprint("key", key));
  SPILLWAY_TRY(model::check_certificate("certificate", certificate));
  return model::check_time("not_after", not_after);
}

// What the token gave, on top of what is known of the identity by now.
Answer replay(Workspace& workspace, const TokenRecord& token) {
  const auto* present = workspace.find<Identity>(identity_key(token.name));
  Identity identity = present == nullptr ? Identity{} : *present;
  identity.name = token.name;
  identity.roles = token.roles;
  identity.key = token.key;
  identity.certificate = token.certificate;
  identity.not_after = token.not_after;
  return answer_with(std::move(identity), true);
}

// Quota and budget are the operator's and stay; labels are as the token has them.
void put_account(Workspace& workspace, const TokenRecord& token, Instant now) {
  const ClusterId cluster(token.name);
  const auto* present = workspace.find<AccountRecord>(account_key(cluster));
  AccountRecord account = present == nullptr ? AccountRecord{} : *present;
  if (present != nullptr && account.cluster.labels == token.labels) return;
  account.cluster.id = cluster;
  account.cluster.labels = token.labels;
  workspace.emit({.sequence = 0,
                  .at = now,
                  .kind = EventKind::cluster_put,
                  .subject = cluster.text,
                  .pool = {},
                  .provider = {},
                  .buyer = cluster,
                  .detail = {}});
  workspace.put(account_key(cluster), std::move(account));
}

tl::unexpected<Error> not_renewed(const std::string& name, std::string reason) {
  return fail(Code::denied, "identity " + name, std::move(reason),
              "join again with a token from the operator");
}

void withdraw_pools(Workspace& workspace, const ClusterId& provider, const Context& context) {
  // Read for its version: a pool that is published since the scan changes it (publish.cpp).
  workspace.find<AccountRecord>(account_key(provider));
  for (const PoolId& id : workspace.live_pools_of(provider)) {
    const auto* present = workspace.find<PoolRecord>(key_of(id));
    if (present == nullptr) continue;
    PoolRecord pool = *present;
    withdraw(pool);
    workspace.emit({.sequence = 0,
                    .at = context.now,
                    .kind = EventKind::pool_withdrawn,
                    .subject = id.text,
                    .pool = id,
                    .provider = provider,
                    .buyer = {},
                    .detail = "its provider was revoked"});
    put_pool(workspace, std::move(pool), context.now, context.rules.reclaim_after);
  }
}

// A token that lay in a drawer must not bring back whom the operator has thrown out since.
Status check_made_since(Workspace& workspace, const TokenRecord& token) {
  const auto* former = workspace.find<Identity>(identity_key(token.name));
  if (former == nullptr || !former->revoked || token.made >= *former->revoked) return {};
  return fail(
      Code::denied, "token",
      fmt::format("it was made before {} was revoked at {}", token.name, to_text(*former->revoked)),
      "ask the operator for a new one");
}

}  // namespace

Status check_not_revoked(Workspace& workspace, const ClusterId& cluster) {
  const auto* identity = workspace.find<Identity>(identity_key(cluster.text));
  if (identity == nullptr || !identity->revoked) return {};
  return fail(Code::denied, "cluster " + cluster.text,
              fmt::format("it was revoked at {}", to_text(*identity->revoked)),
              "join again with a token from the operator");
}

Result<Answer> run(Workspace& workspace, const Join& command, const Context& context) {
  SPILLWAY_TRY(check_credentials(command.key, command.certificate, command.not_after));
  const auto* present = workspace.find<TokenRecord>(token_key(command.token));
  if (present == nullptr) {
    return fail(Code::denied, "token", "it is unknown: cancelled, forgotten or never made",
                "ask the operator for a new one");
  }
  TokenRecord token = *present;
  if (token.is_used() && token.key == command.key) {
    SPILLWAY_TRY(check_made_since(workspace, token));
    return replay(workspace, token);
  }
  if (token.is_used() && !mutant(Mutant::join_twice)) {
    return fail(Code::denied, "token", "it was used already, with another key",
                "join with the key that used it, or ask the operator for a new one");
  }
  if (token.expires <= context.now && !mutant(Mutant::join_late)) {
    return fail(Code::gone, "token", fmt::format("it expired at {}", to_text(token.expires)),
                "ask the operator for a new one");
  }
  SPILLWAY_TRY(check_made_since(workspace, token));
  SPILLWAY_TRY(check_sort(workspace, token.name, token.roles));
  Identity identity;
  identity.name = token.name;
  identity.roles = token.roles;
  identity.key = command.key;
  identity.certificate = command.certificate;
  identity.not_after = command.not_after;
  identity.since = context.now;
  token.key = command.key;
  token.certificate = command.certificate;
  token.not_after = command.not_after;
  // Writing needs the old row's version.
  const bool again = workspace.find<Identity>(identity_key(identity.name)) != nullptr;
  if (is_cluster(identity.roles)) put_account(workspace, token, context.now);
  workspace.emit(event_on(
      identity, EventKind::identity_joined, context.now,
      fmt::format("as {}{}", to_text(identity.roles), again ? ", in place of the former" : "")));
  workspace.put(identity_key(identity.name), identity);
  workspace.put(token_key(command.token), std::move(token));
  return answer_with(std::move(identity));
}

Result<Answer> run(Workspace& workspace, const Recertify& command, const Context& context) {
  SPILLWAY_TRY(check_credentials(command.new_key, command.certificate, command.not_after));
  const Key key = identity_key(command.name);
  const auto* present = workspace.find<Identity>(key);
  if (present == nullptr) return not_renewed(command.name, "it is unknown");
  Identity identity = *present;
  if (identity.revoked && !mutant(Mutant::renew_revoked)) {
    return not_renewed(command.name,
                       fmt::format("it was revoked at {}", to_text(*identity.revoked)));
  }
  if (identity.key != command.key && identity.key != command.new_key) {
    return not_renewed(command.name, "its key is another one");
  }
  if (identity.key == command.new_key && identity.certificate == command.certificate) {
    return answer_with(std::move(identity), true);
  }
  identity.key = command.new_key;
  identity.certificate = command.certificate;
  identity.not_after = command.not_after;
  workspace.emit(event_on(identity, EventKind::identity_renewed, context.now,
                          fmt::format("until {}", to_text(identity.not_after))));
  workspace.put(key, identity);
  return answer_with(std::move(identity));
}

Result<Answer> run(Workspace& workspace, const Revoke& command, const Context& context) {
  const Key key = identity_key(command.name);
  const auto* present = workspace.find<Identity>(key);
  if (present == nullptr) {
    return fail(Code::not_found, "identity " + command.name, "nobody has joined under this name",
                "list the identities to see who has");
  }
  Identity identity = *present;
  if (identity.revoked) return answer_with(std::move(identity), true);
  identity.revoked = context.now;
  workspace.emit(event_on(identity, EventKind::identity_revoked, context.now,
                          fmt::format("was {}", to_text(identity.roles))));
  if (is_cluster(identity.roles)) withdraw_pools(workspace, ClusterId(identity.name), context);
  workspace.put(key, identity);
  return answer_with(std::move(identity));
}

}  // namespace spillway::market
