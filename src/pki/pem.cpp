#include "pki/pem.h"

#include <openssl/pem.h>

#include "pki/openssl.h"

namespace spillway::pki {
namespace {

constexpr std::string_view k_begin = "-----BEGIN ";
constexpr std::string_view k_dashes = "-----";

tl::unexpected<Error> refuse(std::string_view thing, std::string reason) {
  return fail(Code::invalid, std::string(thing), std::move(reason),
              "give all of it, from -----BEGIN to the last dash after -----END");
}

void skip_space(std::string_view& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  text.remove_prefix(first == std::string_view::npos ? text.size() : first);
}

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789# ") == std::string_view::npos;
}

}  // namespace

Result<std::vector<PemBlock>> split_pem(std::string_view text, std::string_view thing) {
  std::vector<PemBlock> blocks;
  skip_space(text);
  while (!text.empty()) {
    if (!text.starts_with(k_begin)) return refuse(thing, "it is not PEM, or not only PEM");
    const size_t dashes = text.find(k_dashes, k_begin.size());
    if (dashes == std::string_view::npos) return refuse(thing, "its first line is cut off");
    const std::string_view label = text.substr(k_begin.size(), dashes - k_begin.size());
    if (!is_label(label)) return refuse(thing, "its first line is malformed");
    const std::string end = std::string("\n-----END ").append(label).append(k_dashes);
    const size_t last = text.find(end);
    if (last == std::string_view::npos) return refuse(thing, "its last line is missing");
    const std::string_view block = text.substr(0, last + end.size());
    if (block.find(k_begin, k_begin.size()) != std::string_view::npos) {
      return refuse(thing, "it begins a second time before it ends");
    }
    blocks.push_back({label, block});
    text.remove_prefix(block.size());
    skip_space(text);
  }
  return blocks;
}

Result<PemBlock> single_pem(std::string_view text, std::string_view label, std::string_view thing) {
  const Result<std::vector<PemBlock>> blocks = split_pem(text, thing);
  if (!blocks) return tl::unexpected(blocks.error());
  if (blocks->empty()) return refuse(thing, "it is empty");
  if (blocks->size() > 1) return refuse(thing, "it holds more than one block");
  if (blocks->front().label != label) {
    return refuse(thing, std::string("it is no ").append(label));
  }
  return blocks->front();
}

Result<std::string> decode_pem(const PemBlock& block, std::string_view thing) {
  const QuietErrors quiet;
  const OwnedBio bio = reader_of(block.text);
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  if (PEM_read_bio(bio.get(), &name, &header, &data, &size) != 1) {
    return refuse(thing, "it is not base64 as PEM has it");
  }
  const bool plain = header[0] == '\0';
  std::string bytes(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
  OPENSSL_free(name);
  OPENSSL_free(header);
  OPENSSL_free(data);
  if (!plain) return refuse(thing, "it has headers between its first line and its content");
  return bytes;
}

}  // namespace spillway::pki
