#include "services/json_body.h"

#include "base/text.h"
#include "net/ascii.h"

namespace spillway::services {

bool is_json(const net::Request& request) {
  const std::string* type = net::find_header(request.headers, "Content-Type");
  if (type == nullptr) return true;
  std::string_view essence = std::string_view(*type).substr(0, type->find(';'));
  while (essence.ends_with(' ') || essence.ends_with('\t')) essence.remove_suffix(1);
  while (essence.starts_with(' ') || essence.starts_with('\t')) essence.remove_prefix(1);
  return net::equal_ignoring_case(essence, "application/json");
}

net::Response json_response(int status, std::string body) {
  net::Response response;
  response.status = status;
  response.headers.push_back({"Content-Type", "application/json"});
  response.body = std::move(body);
  return response;
}

}  // namespace spillway::services
