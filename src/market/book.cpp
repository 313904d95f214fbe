#include "market/book.h"

#include "market/transitions.h"

namespace spillway::market {

Result<Answer> decide(Workspace& workspace, const Command& command, const Context& context) {
  workspace.drop();
  Result<Answer> answer =
      std::visit([&](const auto& one) { return run(workspace, one, context); }, command);
  if (workspace.lacks_rows()) return answer;
  if (answer) {
    workspace.keep();
  } else {
    workspace.drop();
    // What a noun's own rules say against it often leaves no doubt what to do (law 7: say it).
    std::string& next = answer.error().next;
    if (next.empty()) next = "correct it and ask again";
  }
  return answer;
}

EpochRecord current_epoch(Workspace& workspace) {
  const auto* epoch = workspace.find<EpochRecord>(epoch_key());
  return epoch == nullptr ? EpochRecord{} : *epoch;
}

Result<model::Contract> contract_of(Workspace& workspace, const ClusterId& party, Side side,
                                    const ContractId& id) {
  const auto* contract = workspace.find<model::Contract>(key_of(id));
  const bool is_buyer = contract != nullptr && contract->buyer == party && side != Side::provider;
  const bool is_provider =
      contract != nullptr && contract->provider == party && side != Side::buyer;
  if (!is_buyer && !is_provider) {
    return fail(Code::not_found, "contract " + id.text, "there is no such contract of yours",
                "list your contracts to see which there are");
  }
  return *contract;
}

tl::unexpected<Error> at_the_same_time(const ContractId& id) {
  return fail(Code::contended, "contract " + id.text, "it is being signed at this moment",
              "ask again");
}

Event event_on(const model::Contract& contract, EventKind kind, Instant at, std::string detail) {
  return {.sequence = 0,
          .at = at,
          .kind = kind,
          .subject = contract.id.text,
          .pool = contract.pool,
          .provider = contract.provider,
          .buyer = contract.buyer,
          .detail = std::move(detail)};
}

Answer answer_with(model::Contract contract) {
  Answer answer;
  answer.contract = std::move(contract);
  return answer;
}

}  // namespace spillway::market
