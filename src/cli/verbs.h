// The verbs of `spillway`, one file each. A verb adds its settings and words to the command line,
// and says what runs.
#pragma once

#include "cli/word.h"

namespace spillway::cli {

void add_agent(Word verb);
void add_autoscaler(Word verb);
void add_audit(Word verb);
void add_broker(Word verb);
void add_cluster(Word verb);
void add_clusters(Word verb);
void add_completion(Word verb);
void add_conformance(Word verb);
void add_contracts(Word verb);
void add_demo(Word verb);
void add_doctor(Word verb);
void add_driver(Word verb);
void add_events(Word verb);
void add_explain(Word verb);
void add_fabric(Word verb);
void add_hold(Word verb);
void add_identities(Word verb);
void add_invoice(Word verb);
void add_join(Word verb);
void add_leaves(Word verb);
void add_offers(Word verb);
void add_pools(Word verb);
void add_renew(Word verb);
void add_sim(Word verb);
void add_supply(Word verb);
void add_token(Word verb);
void add_trust(Word verb);
void add_validate(Word verb);
void add_whoami(Word verb);

}  // namespace spillway::cli
