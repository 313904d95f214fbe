// An operator's identity, made from the broker's folder alone: for the first one, and for those who
// are locked out. It goes through the book like everyone's, so that the audit has it.
//
// This opens no door: who can read the folder has the authority's key and can sign what he likes.
#pragma once

#include <string>

#include "base/result.h"
#include "pki/key.h"
#include "services/wire/bodies.h"

namespace spillway::cli {

struct OperatorOrder {
  std::string data;  // the broker's folder
  std::string name;
  std::string request;  // what the audit calls this
};

// From its commit on this key is the one on record; a former one of the name is out. A broker that
// runs on the folder meanwhile hears of it within a second, as of any other broker on its store.
Result<wire::CertificateAnswer> enrol_operator(const OperatorOrder& order, const pki::Key& key);

}  // namespace spillway::cli
