#include "services/problem.h"

#include "services/wire/fields.h"

namespace spillway::services {
namespace {

wire::Problem describe_problem(int status, std::string_view code, const Error& error) {
  wire::Problem body;
  body.type = fmt::format("urn:spillway:problem:{}", code);
  body.title = net::reason_phrase(status);
  body.status = status;
  body.detail = error.message();
  body.thing = error.thing;
  body.reason = error.reason;
  body.next = error.next;
  return body;
}

net::Response answer(const wire::Problem& body) {
  net::Response response;
  response.status = body.status;
  response.headers.push_back({"Content-Type", "application/problem+json"});
  if (body.status == 503) response.headers.push_back({"Retry-After", "1"});
  response.body = model::write_json(body);
  return response;
}

}  // namespace

net::Response problem(const Error& error) {
  const CodeRow& row = describe(error.code);
  return answer(describe_problem(row.http, row.name, error));
}

net::Response problem(int status, std::string_view code, const Error& error) {
  return answer(describe_problem(status, code, error));
}

net::Response problem(const Error& error, const wire::SnapshotAnswer& snapshot) {
  const CodeRow& row = describe(error.code);
  wire::Problem body = describe_problem(row.http, row.name, error);
  body.snapshot = snapshot;
  return answer(body);
}

}  // namespace spillway::services
