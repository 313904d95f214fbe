// The transitions behind decide(), one file each subject. Not for others to call.
#pragma once

#include "market/book.h"

namespace spillway::market {

Result<Answer> run(Workspace&, const PublishPool&, const Context&);  // publish.cpp
Result<Answer> run(Workspace&, const WithdrawPool&, const Context&);
Result<Answer> run(Workspace&, const PublishOffer&, const Context&);
Result<Answer> run(Workspace&, const WithdrawOffer&, const Context&);
Result<Answer> run(Workspace&, const PutCluster&, const Context&);  // account.cpp
Result<Answer> run(Workspace&, const Hold&, const Context&);        // hold.cpp
Result<Answer> run(Workspace&, const Confirm&, const Context&);     // lease.cpp
Result<Answer> run(Workspace&, const Extend&, const Context&);
Result<Answer> run(Workspace&, const Renew&, const Context&);
Result<Answer> run(Workspace&, const Look&, const Context&);
Result<Answer> run(Workspace&, const Buy&, const Context&);         // spare.cpp
Result<Answer> run(Workspace&, const GiveNotice&, const Context&);  // ending.cpp
Result<Answer> run(Workspace&, const Release&, const Context&);
Result<Answer> run(Workspace&, const Drained&, const Context&);
Result<Answer> run(Workspace&, const MakeToken&, const Context&);  // token.cpp
Result<Answer> run(Workspace&, const CancelToken&, const Context&);
Result<Answer> run(Workspace&, const FindToken&, const Context&);
Result<Answer> run(Workspace&, const Join&, const Context&);  // identity.cpp
Result<Answer> run(Workspace&, const Recertify&, const Context&);
Result<Answer> run(Workspace&, const Revoke&, const Context&);
Result<Answer> run(Workspace&, const PutCard&, const Context&);  // signing.cpp
Result<Answer> run(Workspace&, const Countersign&, const Context&);
Result<Answer> run(Workspace&, const MeterUsage&, const Context&);   // usage.cpp
Result<Answer> run(Workspace&, const SendMessage&, const Context&);  // relay.cpp
Result<Answer> run(Workspace&, const TakeMessages&, const Context&);
Result<Answer> run(Workspace&, const Attend&, const Context&);  // attend.cpp
Result<Answer> run(Workspace&, const Beat&, const Context&);

// The market's epoch; a fresh market is in its first.
EpochRecord current_epoch(Workspace& workspace);

// Refuses a name for these roles when it is known as one of the other sort: what was a cluster
// never becomes an operator or viewer, nor the other way round.
Status check_sort(Workspace& workspace, const std::string& name, const model::Roles& roles);

// Refuses what was asked for before the cluster was revoked and is decided after: whoever revoked
// it was told that it is over.
Status check_not_revoked(Workspace& workspace, const ClusterId& cluster);  // identity.cpp

// The contract, when `party` is a side of it that may act: a foreign one answers as a missing one.
enum class Side { buyer, provider, either };
Result<model::Contract> contract_of(Workspace& workspace, const ClusterId& party, Side side,
                                    const ContractId& id);

// Its rows were read one after the other, and somebody signed in between: read them again.
tl::unexpected<Error> at_the_same_time(const ContractId& id);

Event event_on(const model::Contract& contract, EventKind kind, Instant at, std::string detail);
Answer answer_with(model::Contract contract);

}  // namespace spillway::market
