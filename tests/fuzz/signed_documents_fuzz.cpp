// What members sign, as strangers might send it: what is accepted has one text, and reads back. The
// input is also tried as the payload under a right signature, for a hostile member can sign
// whatever it likes.
#include "pki/signed_documents.h"

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "base/text.h"
#include "pki/ed25519.h"
#include "pki/jws.h"

namespace {

using namespace spillway;

const pki::Key& somebody() {
  static const pki::Key k_key = *pki::signing_key_from_seed(std::string(32, 'f'));
  return k_key;
}

void check_error(const Error& error) {
  SPILLWAY_CHECK(error.code == Code::invalid || error.code == Code::denied,
                 "bad input is the sender's fault");
  SPILLWAY_CHECK(is_printable(error.message()), "an error repeats the input");
}

template <class T, class Read>
void check_payload(std::string_view text, Read read) {
  const Result<T> value = read(text);
  if (!value) return check_error(value.error());
  SPILLWAY_CHECK(to_payload(*value) == text, "two texts for one document");
  SPILLWAY_CHECK(validate(*value).has_value(), "what was read is not valid");
}

void check_document(const std::string& text) {
  if (const auto card = pki::verify_card(text); !card) check_error(card.error());
  if (const auto event = pki::verify_event(text); !event) check_error(event.error());
  for (const auto signers : {pki::Signers::buyer, pki::Signers::both}) {
    const auto agreement = pki::verify_agreement(text, signers);
    if (!agreement) check_error(agreement.error());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_payload<model::Card>(text, model::card_from_payload);
  check_payload<model::Agreement>(text, model::agreement_from_payload);
  check_payload<model::ContractEvent>(text, model::contract_event_from_payload);
  check_document(text);
  for (const auto type :
       {model::k_card_type, model::k_agreement_type, model::k_contract_event_type}) {
    if (const auto jws = pki::Jws::sign(type, text, somebody())) check_document(jws->to_text());
  }
  return 0;
}
