#include "net/client_error.h"

#include <openssl/x509_vfy.h>

namespace spillway::net {
namespace {

// Of any server: how to ask a second time without doing it twice is its own matter.
constexpr std::string_view k_outcome_unknown =
    "look whether it was done, then try again: the outcome is unknown";

std::string_view next_step_after(long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "compare the clocks of both machines; else the server's certificate must be renewed";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "call the server by a name that its certificate has";
    default:
      return "check the address, and the authority's certificate or fingerprint that is used here";
  }
}

}  // namespace

Error name_error(const std::string& server, const std::string& why) {
  return {Code::unavailable, server, "its name cannot be resolved: " + why,
          "check the name and the network"};
}

Error connect_error(const std::string& server, const std::string& why) {
  return {Code::unavailable, server, "no connection: " + why,
          "check the address and that the server runs, then try again"};
}

Error link_error(const std::string& server, const Trouble& trouble, bool is_connected) {
  if (trouble.verdict != 0) {
    return {Code::denied, server, "its certificate is not accepted: " + trouble.text,
            std::string(next_step_after(trouble.verdict))};
  }
  if (trouble.is_refusal) {
    return {Code::denied, server, "it refuses us: " + trouble.text,
            "check that the certificate used here is of this federation"};
  }
  if (!is_connected) return connect_error(server, trouble.text);
  return {Code::unavailable, server, "the connection broke before the answer: " + trouble.text,
          std::string(k_outcome_unknown)};
}

Error ended_error(const std::string& server, bool is_connected) {
  if (!is_connected) return connect_error(server, "it closed the connection at once");
  return {Code::unavailable, server, "it closed the connection before the answer was complete",
          std::string(k_outcome_unknown)};
}

Error late_error(const std::string& server, std::string_view what, Duration limit) {
  return {Code::unavailable, server, fmt::format("{} within {}", what, to_text(limit)),
          "check the network and the server's load, then try again"};
}

Error answer_error(const std::string& server, std::string_view why) {
  return {Code::unavailable, server, fmt::format("its answer cannot be read: {}", why),
          "check that this is the right address and version"};
}

}  // namespace spillway::net
