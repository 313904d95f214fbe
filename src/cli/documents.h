// What the broker told, as the JSON document that it was. Writing is canonical, so that these are
// the bytes that came. In a file of its own: the codec costs much to compile.
#pragma once

#include <string>

#include "services/wire/bodies.h"

namespace spillway::cli {

std::string json_of(const wire::WhoAmI& told);
std::string json_of(const wire::CertificateAnswer& told);
std::string json_of(const wire::TokenAnswer& told);
std::string json_of(const wire::TokenPage& told);
std::string json_of(const wire::IdentityRow& told);
std::string json_of(const wire::IdentityPage& told);
std::string json_of(const wire::PoolPage& told);
std::string json_of(const wire::OfferRow& told);
std::string json_of(const wire::OfferPage& told);
std::string json_of(const wire::QueryAnswer& told);
std::string json_of(const wire::HoldAnswer& told);
std::string json_of(const wire::ContractAnswer& told);
std::string json_of(const wire::ContractPage& told);
std::string json_of(const wire::InvoiceAnswer& told);
std::string json_of(const wire::EventBody& told);
std::string json_of(const wire::EventPage& told);
std::string json_of(const wire::ClusterAnswer& told);
std::string json_of(const wire::ClusterPage& told);
std::string json_of(const model::Cluster& cluster);

Result<wire::EventPage> event_page_from(const std::string& json);
Result<wire::ClusterAnswer> cluster_answer_from(const std::string& json);

}  // namespace spillway::cli
