// Who belongs to the federation: tokens, joining, renewing, revoking.
#include "services/broker/handlers.h"
#include "services/broker/listing.h"

namespace spillway::services {
namespace {

// Once this broker knows of what it tells: a repeated answer is of something that another broker,
// or an attempt whose outcome was unknown, has done.
void when_known(Desk& desk, const std::shared_ptr<Call>& call, const market::Answer& told,
                std::function<void()> then) {
  if (!told.replayed) return then();
  desk.directory.look_up(told.identity->name,
                         [&desk, call, then = std::move(then)](const Status& known) {
                           if (!known) return refuse(desk, *call, known.error());
                           then();
                         });
}

// The token was found; whether it may still be used is decided in the same commit as using it.
void join_with(Desk& desk, const std::shared_ptr<Call>& call, const market::TokenRecord& token,
               const std::string& request) {
  const auto issued = desk.issuer.issue(request, token.name, call->began);
  if (!issued) return refuse(desk, *call, issued.error());
  call->caller.name = token.name;  // for the audit: whoever has the token acts for this name
  submit(desk, call, market::Join{token.id, issued->key, issued->certificate, issued->not_after},
         [&desk, call](const market::Answer& told) {
           when_known(desk, call, told, [&desk, call, told] {
             answer(desk, *call, told.replayed ? 200 : 201, answer_of(desk.issuer, *told.identity));
           });
         });
}

}  // namespace

void handle_join(Desk& desk, const std::shared_ptr<Call>& call) {
  const auto body = read_body<wire::JoinRequest>(desk, *call, "join");
  if (!body) return;
  const auto id = desk.issuer.token_id(body->token);
  if (!id) return refuse(desk, *call, id.error());
  desk.book.submit(market::FindToken{*id}, [&desk, call, request = body->request](
                                               const Result<market::Answer>& found) {
    if (found) return join_with(desk, call, *found->token, request);
    // To a stranger a token that never was and one that is over look the same.
    const bool unknown = found.error().code == Code::not_found;
    refuse(desk, *call,
           unknown ? Error{Code::denied, "token", "it is not known here, or is over",
                           "ask an operator for a new one"}
                   : found.error());
  });
}

void handle_recertify(Desk& desk, const std::shared_ptr<Call>& call) {
  const auto body = read_body<wire::CertificateRequest>(desk, *call, "certificate request");
  if (!body) return;
  const auto issued = desk.issuer.issue(body->request, call->caller.name, call->began);
  if (!issued) return refuse(desk, *call, issued.error());
  submit(desk, call,
         market::Recertify{call->caller.name, call->caller.key, issued->key, issued->certificate,
                           issued->not_after},
         [&desk, call](const market::Answer& told) {
           when_known(desk, call, told, [&desk, call, told] {
             answer(desk, *call, 201, answer_of(desk.issuer, *told.identity));
           });
         });
}

void handle_whoami(Desk& desk, const std::shared_ptr<Call>& call) {
  answer(desk, *call, 200,
         wire::WhoAmI{desk.issuer.federation(), call->caller.name, call->caller.roles,
                      call->caller.not_after});
}

void handle_list_tokens(Desk& desk, const std::shared_ptr<Call>& call) {
  list_rows<market::TokenRecord>(desk, call, market::Kind::token, &wire::TokenPage::tokens);
}

void handle_make_token(Desk& desk, const std::shared_ptr<Call>& call) {
  const auto body = read_body<wire::TokenRequest>(desk, *call, "token");
  if (!body) return;
  const auto token = desk.issuer.make_token();
  if (!token) return refuse(desk, *call, token.error());
  submit(desk, call, market::MakeToken{token->id, body->name, body->roles, body->labels, body->ttl},
         [&desk, call, text = token->text](const market::Answer& told) {
           answer(desk, *call, 201,
                  wire::TokenAnswer{text, told.token->id, told.token->name, told.token->expires});
         });
}

void handle_cancel_token(Desk& desk, const std::shared_ptr<Call>& call) {
  if (!no_body(desk, *call)) return;
  submit(desk, call, market::CancelToken{call->parameters[0]}, done(desk, call));
}

void handle_list_identities(Desk& desk, const std::shared_ptr<Call>& call) {
  PageAsked asked;
  if (!page_asked(desk, *call, asked)) return;
  wire::IdentityPage page;
  const auto limit = static_cast<size_t>(asked.limit);
  for (const auto& identity : desk.directory.list_after(asked.after, limit)) {
    page.identities.push_back(wire::row_of(*identity));
  }
  if (page.identities.size() == limit) page.next = page.identities.back().name;
  answer(desk, *call, 200, page);
}

void handle_revoke(Desk& desk, const std::shared_ptr<Call>& call) {
  if (!no_body(desk, *call)) return;
  if (call->parameters[0] == call->caller.name) {
    return refuse(desk, *call,
                  {Code::conflict, "identity " + call->caller.name,
                   "nobody may revoke itself: the federation could lose its last operator",
                   "let another operator do it"});
  }
  submit(
      desk, call, market::Revoke{call->parameters[0]}, [&desk, call](const market::Answer& told) {
        when_known(desk, call, told,
                   [&desk, call, told] { answer(desk, *call, 200, wire::row_of(*told.identity)); });
      });
}

}  // namespace spillway::services
