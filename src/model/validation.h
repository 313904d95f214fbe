// What the validate() functions share. An error's thing is the path of the field in the document
// ("shape.memory", "units[3].charged"): the codec finds the line by it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/money.h"
#include "base/result.h"
#include "base/time.h"

namespace spillway::model {

inline tl::unexpected<Error> refuse(std::string_view path, std::string reason,
                                    std::string next = {}) {
  return fail(Code::invalid, std::string(path), std::move(reason), std::move(next));
}

// An error of a part, told as the whole's: its path grows a first step.
Status under(std::string_view step, Status status);
Status under(std::string_view step, size_t index, Status status);
// An error whose thing is not a path (an id's, a parser's): the path takes its place.
Status at(std::string_view path, Status status);

Status check_range(std::string_view path, int64_t value, int64_t low, int64_t high);
// As check_range from 0, told in the units that a document has: "500m", "4Gi", "62.5%".
Status check_cpu(std::string_view path, int64_t millis, int64_t high);
Status check_bytes(std::string_view path, int64_t bytes, int64_t high);
Status check_share(std::string_view path, int64_t permille, int64_t high);
Status check_range(std::string_view path, Duration value, Duration low, Duration high);
Status check_time(std::string_view path, Instant value);
Status check_size(std::string_view path, size_t size, size_t most);
Status check_currency(std::string_view path, const Currency& currency);
Status check_text(std::string_view path, std::string_view text);  // may be empty
Status check_country(std::string_view path, std::string_view country);

// Kubernetes' syntax (k8s.io/apimachinery, util/validation).
bool is_label_value(std::string_view text);     // at most 63; may be empty
bool is_qualified_name(std::string_view text);  // [<DNS subdomain>/]<name>
Status check_label_key(std::string_view path, std::string_view key);
Status check_label_value(std::string_view path, std::string_view value);

}  // namespace spillway::model
