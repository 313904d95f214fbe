// Hostile kubeconfigs from the wire: whatever is taken runs nothing and reads no file, speaks TLS
// to a server whose authority it brings, and is the same when it is read again. Every refusal is
// one of the text: a file that was looked for would be refused with another code.
//
// The first line is the context that is asked for; empty: the file's own.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "kube/access.h"

namespace spillway::kube {
namespace {

void check(std::string_view input) {
  const size_t line = input.find('\n');
  const std::string_view context = line == std::string_view::npos ? "" : input.substr(0, line);
  const std::string_view text = line == std::string_view::npos ? input : input.substr(line + 1);
  const auto access = read_wire_kubeconfig(text, context);
  if (!access) {
    SPILLWAY_CHECK(access.error().code == Code::invalid, "it was refused for more than its text");
    SPILLWAY_CHECK(!access.error().reason.empty(), "a refusal without a reason");
    return;
  }
  SPILLWAY_CHECK(access->token_file.empty(), "it would read a file");
  const AccessFiles& files = access->files;
  SPILLWAY_CHECK(files.authorities.empty() && files.certificate.empty() && files.key.empty(),
                 "it would read a file again and again");
  SPILLWAY_CHECK(!access->plugin, "it would run a program");
  SPILLWAY_CHECK(!access->server.is_plain, "it would speak without TLS");
  SPILLWAY_CHECK(!access->authorities_pem.empty(), "it would believe any server");
  SPILLWAY_CHECK(text.find("certificate-authority-data") != std::string_view::npos,
                 "an authority that was not in it");
  SPILLWAY_CHECK(!access->identity || text.find("client-key-data") != std::string_view::npos,
                 "a key that was not in it");
  SPILLWAY_CHECK(is_printable(access->token), "a token that ends its header");
  const auto again = read_wire_kubeconfig(text, context);
  SPILLWAY_CHECK(again && again->token == access->token && again->prefix == access->prefix &&
                     again->authorities_pem == access->authorities_pem,
                 "it reads otherwise the second time");
}

}  // namespace
}  // namespace spillway::kube

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  spillway::kube::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
