// What each route does (routes.cpp). By then the caller is known and allowed to call it; whether
// the thing is the caller's is checked before for paths that say whose it is, and here otherwise.
#pragma once

#include <memory>

namespace spillway::services {

struct Call;
struct Desk;

#define SPILLWAY_HANDLER(name) void name(Desk& desk, const std::shared_ptr<Call>& call)

SPILLWAY_HANDLER(handle_health);  // operations.cpp
SPILLWAY_HANDLER(handle_ready);
SPILLWAY_HANDLER(handle_metrics);
SPILLWAY_HANDLER(handle_audit);

SPILLWAY_HANDLER(handle_join);  // enrolment.cpp
SPILLWAY_HANDLER(handle_recertify);
SPILLWAY_HANDLER(handle_whoami);
SPILLWAY_HANDLER(handle_list_tokens);
SPILLWAY_HANDLER(handle_make_token);
SPILLWAY_HANDLER(handle_cancel_token);
SPILLWAY_HANDLER(handle_list_identities);
SPILLWAY_HANDLER(handle_revoke);

SPILLWAY_HANDLER(handle_list_pools);  // selling.cpp
SPILLWAY_HANDLER(handle_get_pool);
SPILLWAY_HANDLER(handle_put_pool);
SPILLWAY_HANDLER(handle_delete_pool);
SPILLWAY_HANDLER(handle_list_offers);
SPILLWAY_HANDLER(handle_get_offer);
SPILLWAY_HANDLER(handle_put_offer);
SPILLWAY_HANDLER(handle_delete_offer);
SPILLWAY_HANDLER(handle_notice);
SPILLWAY_HANDLER(handle_usage);

SPILLWAY_HANDLER(handle_query);  // buying.cpp
SPILLWAY_HANDLER(handle_hold);
SPILLWAY_HANDLER(handle_confirm);
SPILLWAY_HANDLER(handle_extend);
SPILLWAY_HANDLER(handle_renew);
SPILLWAY_HANDLER(handle_buy);
SPILLWAY_HANDLER(handle_release);
SPILLWAY_HANDLER(handle_drained);

SPILLWAY_HANDLER(handle_list_contracts);  // contracts.cpp
SPILLWAY_HANDLER(handle_get_contract);
SPILLWAY_HANDLER(handle_snapshot);

SPILLWAY_HANDLER(handle_invoice);  // invoices.cpp

SPILLWAY_HANDLER(handle_get_card);  // agreements.cpp
SPILLWAY_HANDLER(handle_put_card);
SPILLWAY_HANDLER(handle_get_agreement);
SPILLWAY_HANDLER(handle_countersign);

SPILLWAY_HANDLER(handle_send_message);  // messages.cpp
SPILLWAY_HANDLER(handle_get_messages);
SPILLWAY_HANDLER(handle_take_messages);

SPILLWAY_HANDLER(handle_events);  // events.cpp

SPILLWAY_HANDLER(handle_list_clusters);  // clusters.cpp
SPILLWAY_HANDLER(handle_get_cluster);
SPILLWAY_HANDLER(handle_put_cluster);

#undef SPILLWAY_HANDLER

}  // namespace spillway::services
