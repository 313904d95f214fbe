// Refusal: why the API did not do what was asked, in Kubernetes' own words: clients tell refusals
// apart by code, reason and sometimes by the message, so these follow kube-apiserver 1.34.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "embedded/kind.h"
#include "model/node.h"

namespace spillway::embedded {

struct Cause {
  std::string reason;
  std::string message;
  std::string field;
};

struct Refusal {
  int code = 500;
  std::string reason = {};
  std::string message = {};
  std::string name = {};  // of the object; with group and kind in `details`
  std::string group = {};
  std::string kind = {};
  std::string uid = {};
  std::vector<Cause> causes = {};
  int retry_after_seconds = 0;
  std::string continue_from = {};  // a list may go on, inconsistently, with this token
};

template <class T>
using Answer = tl::expected<T, Refusal>;
using Done = Answer<void>;
using Refused = tl::unexpected<Refusal>;

Refused not_found(const Kind& kind, std::string_view name);
Refused already_exists(const Kind& kind, std::string_view name);
Refused conflict(const Kind& kind, std::string_view name, std::string_view why);
Refused stale(const Kind& kind, std::string_view name);  // another resourceVersion than the present
Refused invalid(const Kind& kind, std::string_view name, std::vector<Cause> causes);
Refused forbidden(const Kind& kind, std::string_view name, std::string_view why,
                  std::vector<Cause> causes = {});
Refused bad_request(std::string_view message);
Refused expired(std::string_view message);
Refused not_allowed();  // this method on this resource
Refused unsupported_media(std::string_view accepted);
Refused too_many_requests(std::string_view message, int retry_after_seconds);
Refused too_large_version(int64_t asked, int64_t present);
Refused internal_error(std::string_view message);
Refused unauthorized();

// The causes of `invalid`.
Cause required(std::string field, std::string_view detail = {});
Cause invalid_value(std::string field, std::string_view value, std::string_view detail);
Cause unsupported_value(std::string field, std::string_view value, std::string_view supported);
Cause forbidden_field(std::string field, std::string_view detail);

// The Status document.
model::Node status_document(const Refusal& refusal);
model::Node success_document(const Kind* kind, std::string_view name, std::string_view uid);

}  // namespace spillway::embedded
