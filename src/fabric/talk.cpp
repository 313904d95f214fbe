#include "fabric/talk.h"

#include <algorithm>

#include "base/text.h"
#include "fabric/talk_fields.h"

namespace spillway::fabric {
namespace {

// Above what a message of the relay may have: the codec says what is wrong, not how much.
constexpr size_t k_longest_body = size_t{64} << 10;

template <class T>
Result<T> read_talk(std::string_view body, std::string_view what) {
  return model::read_json<T>(body, model::Heading{.what = what, .max_bytes = k_longest_body});
}

Status must_be(const std::string& thing, std::string_view text, const std::string& wanted,
               Hash hash) {
  if (hash(text) == wanted) return {};
  return fail(Code::denied, thing, "it is not the one that the contract names",
              "the buyer sends the requests that it has signed the hashes of");
}

}  // namespace

std::string to_body(const NonceTalk& talk) { return model::write_json(talk); }
std::string to_body(const RequestTalk& talk) { return model::write_json(talk); }
std::string to_body(const IdentityTalk& talk) { return model::write_json(talk); }
std::string to_body(const KubeconfigTalk& talk) { return model::write_json(talk); }
std::string to_body(const NetworkTalk& talk) { return model::write_json(talk); }

Result<NonceTalk> read_nonce_talk(std::string_view body) {
  return read_talk<NonceTalk>(body, "nonce");
}
Result<RequestTalk> read_request_talk(std::string_view body) {
  return read_talk<RequestTalk>(body, "request");
}
Result<IdentityTalk> read_identity_talk(std::string_view body) {
  return read_talk<IdentityTalk>(body, "identity");
}
Result<KubeconfigTalk> read_kubeconfig_talk(std::string_view body) {
  return read_talk<KubeconfigTalk>(body, "kubeconfig");
}
Result<NetworkTalk> read_network_talk(std::string_view body) {
  return read_talk<NetworkTalk>(body, "network");
}

Status check_request(const RequestTalk& talk, const model::LiqoPart& part,
                     const std::vector<std::string>& units, Hash hash) {
  for (const auto& [name, request] : talk.units) {
    const auto found = std::find(units.begin(), units.end(), name);
    if (found == units.end()) {
      return fail(Code::denied, "unit " + in_quotes(name.substr(0, 80)),
                  "the contract has no such unit", "the buyer asks for units under their contract");
    }
    const auto at = static_cast<size_t>(found - units.begin());
    if (at >= part.unit_requests.size()) {
      return fail(Code::denied, "unit " + name, "the contract names no request of it",
                  "hold anew, so that both sign what the fabric needs");
    }
    SPILLWAY_TRY(must_be("request of unit " + name, request, part.unit_requests[at], hash));
  }
  if (!talk.proof) return {};
  return must_be("request of the control plane", talk.proof->request, part.control_plane_request,
                 hash);
}

void add_heard(std::optional<RequestTalk>& heard, RequestTalk talk) {
  if (!heard) heard.emplace();
  if (talk.proof) heard->proof = std::move(talk.proof);
  for (auto& [name, request] : talk.units) heard->units.insert_or_assign(name, std::move(request));
}

}  // namespace spillway::fabric
