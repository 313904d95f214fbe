#include "base/ids.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace spillway {
namespace {

constexpr size_t k_longest_label = 63;  // RFC 1123
constexpr size_t k_contract_id_length = 26;
constexpr std::string_view k_base32 = "0123456789abcdefghjkmnpqrstvwxyz";

bool is_dns_label(std::string_view text) {
  if (text.empty() || text.size() > k_longest_label) return false;
  if (!is_lower_or_digit(text.front()) || !is_lower_or_digit(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

constexpr const char* k_label_rule =
    "use 1 to 63 lower-case letters, digits and '-', with a letter or digit at both ends";

}  // namespace

Status check_cluster_id(std::string_view text) {
  if (is_dns_label(text)) return {};
  return fail(Code::invalid, "cluster id", in_quotes(text) + " is no DNS label", k_label_rule);
}

Status check_owned_id(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return fail(Code::invalid, "id", in_quotes(text) + " does not say whose it is",
                "write <cluster>/<name>");
  }
  if (is_dns_label(text.substr(0, slash)) && is_dns_label(text.substr(slash + 1))) return {};
  return fail(Code::invalid, "id", in_quotes(text) + " is not <cluster>/<name> of two DNS labels",
              k_label_rule);
}

Status check_contract_id(std::string_view text) {
  // 26 characters hold 130 bits; an id has 128, so the first character has two bits less.
  const bool well_formed = text.size() == k_contract_id_length && text.front() <= '7' &&
                           std::all_of(text.begin(), text.end(), [](char c) {
                             return k_base32.find(c) != std::string_view::npos;
                           });
  if (well_formed) return {};
  return fail(Code::invalid, "contract id", in_quotes(text) + " is no contract id",
              "a contract id is the 26 characters that the hold answered");
}

std::string_view owner_of(std::string_view owned_id) {
  return owned_id.substr(0, owned_id.find('/'));
}

ContractId make_contract_id(Instant now, uint64_t random_high, uint64_t random_low) {
  SPILLWAY_CHECK(now.ms >= 0 && now.ms < (int64_t{1} << 48),
                 "a contract id's time is out of range");
  __extension__ using Word = unsigned __int128;
  Word bits = static_cast<Word>(static_cast<uint64_t>(now.ms)) << 80;
  bits |= static_cast<Word>(random_high & 0xFFFF) << 64;
  bits |= random_low;
  std::string text(k_contract_id_length, '0');
  for (size_t i = k_contract_id_length; i > 0; --i) {
    text[i - 1] = k_base32[static_cast<size_t>(bits & 31)];
    bits >>= 5;
  }
  return ContractId{std::move(text)};
}

std::string unit_name(const ContractId& contract, int32_t unit) {
  return "sw-" + contract.text + "-" + std::to_string(unit);
}

std::string unit_provider_id(const ContractId& contract, int32_t unit) {
  return "spillway://" + contract.text + "/" + std::to_string(unit);
}

}  // namespace spillway
