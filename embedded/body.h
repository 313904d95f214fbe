// The body of a request as a document, in one of the forms that the API takes.
#pragma once

#include "embedded/ask.h"
#include "embedded/objects.h"

namespace spillway::embedded {

// As etcd and the real API server bound it.
inline constexpr size_t k_max_body = size_t{3} << 20;

// JSON, or YAML for those types that say so.
Answer<model::Node> read_document(const Ask& ask);
// An object of the kind that is asked for; kind and apiVersion may be left out. Namespace and name
// are taken from the path, and must not contradict it.
Answer<model::Node> read_object(const Ask& ask);
Done check_names(const Ask& ask, model::Node& document);
// Labels and annotations are texts.
Done check_texts(const model::Node& document);
// From the body, if there is one, and the query.
Answer<DeleteOptions> read_delete_options(const Ask& ask);

}  // namespace spillway::embedded
