#include "cli/operator_identity.h"

#include "cli/book_runner.h"
#include "cli/broker_words.h"
#include "cli/when.h"
#include "pki/request.h"
#include "services/broker/broker.h"

namespace spillway::cli {
namespace {

Result<model::Identity> join_book(const OperatorOrder& order, const services::NewToken& token,
                                  const services::Issued& issued) {
  auto book = BookRunner::open(market_in(order.data));
  if (!book) return tl::unexpected(book.error());
  const market::Origin origin{order.name, order.request};
  const auto made = (*book)->ask(
      market::MakeToken{token.id, order.name, {model::Role::operator_}, {}, hours(1)}, origin);
  if (!made) return tl::unexpected(made.error());
  auto joined = (*book)->ask(
      market::Join{token.id, issued.key, issued.certificate, issued.not_after}, origin);
  if (!joined) return tl::unexpected(joined.error());
  return std::move(*joined->identity);
}

}  // namespace

Result<wire::CertificateAnswer> enrol_operator(const OperatorOrder& order, const pki::Key& key) {
  auto issuer = services::AuthorityIssuer::load(authority_in(order.data));
  if (!issuer) return tl::unexpected(issuer.error());
  const auto request = pki::make_request(key, order.name);
  if (!request) return tl::unexpected(request.error());
  const auto issued = issuer->issue(*request, order.name, now());
  if (!issued) return tl::unexpected(issued.error());
  const auto token = issuer->make_token();
  if (!token) return tl::unexpected(token.error());
  const auto identity = join_book(order, *token, *issued);
  if (!identity) return tl::unexpected(identity.error());
  return services::answer_of(*issuer, *identity);
}

}  // namespace spillway::cli
