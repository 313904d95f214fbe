// The guard as a webhook: how an API server is told to ask our agent (guard_review.h) where it has
// no policies of its own. It asks about as little as the rules allow, for while nobody answers it
// refuses:
// - what Liqo's kinds are written as, everywhere: buyers, Liqo and agents alone write them;
// - Leases of buyers, by their label: all else of that kind is a cluster's heartbeat;
// - what guests are made of, in guest namespaces. Tenant namespaces, in which Liqo keeps its own
//   Secrets, are left out: a buyer has no right to any of these kinds there.
//
// There are no matchConditions: Kubernetes below 1.28 does not know them.
//
// All validating webhooks are asked at once, and Liqo's own counts a ShadowPod as running when it
// is asked about it, also if we refuse it: a corrected one of that name would be refused by Liqo.
// So about these we are asked before, too, as a mutating webhook that changes nothing. The word
// that counts is the later one, on the object as it will be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/liqo/guard.h"
#include "fabric/liqo/names.h"
#include "model/node.h"

namespace spillway::fabric::liqo {

inline constexpr Kind k_webhooks{"admissionregistration.k8s.io", "v1",
                                 "validatingwebhookconfigurations",
                                 "ValidatingWebhookConfiguration", false};
inline constexpr Kind k_early_webhooks{"admissionregistration.k8s.io", "v1",
                                       "mutatingwebhookconfigurations",
                                       "MutatingWebhookConfiguration", false};
inline constexpr std::string_view k_webhook_name = "spillway-guard";  // of both configurations
inline constexpr std::string_view k_webhook_path = "/guard";
inline constexpr int64_t k_webhook_seconds = 5;  // an API server waits no longer

// Where it is: a URL, or a Service of the cluster.
struct WebhookPlace {
  std::string url = {};
  std::string space = {};
  std::string service = {};
  int64_t port = 443;
  bool operator==(const WebhookPlace&) const = default;
};
// "https://10.0.0.5:9443", "spillway/spillway-agent-guard:9443".
Result<WebhookPlace> parse_webhook_place(std::string_view text);

// Both configurations. Without authorities (PEM) somebody has to add them before an API server can
// ask: the agent does.
std::vector<GuardObject> webhook_objects(const WebhookPlace& place,
                                         std::string_view authorities_pem);

// Puts the authorities where they are not. False: they are there already, in every entry.
bool set_authorities(model::Node& object, std::string_view authorities_pem);

// Of configurations that were seen, null: not there. Which of their entries are as this release
// writes them, wherever they lead. One that has nobody to trust is not.
struct WebhookStanding {
  size_t entries = 0;  // that there should be
  size_t in_force = 0;
  bool operator==(const WebhookStanding&) const = default;
};
WebhookStanding judge_webhooks(const model::Node* seen, const model::Node* seen_early);

}  // namespace spillway::fabric::liqo
