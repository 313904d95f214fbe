#include "cli/documents.h"

#include "services/wire/fields.h"

namespace spillway::cli {

std::string json_of(const wire::WhoAmI& told) { return model::write_json(told); }
std::string json_of(const wire::CertificateAnswer& told) { return model::write_json(told); }
std::string json_of(const wire::TokenAnswer& told) { return model::write_json(told); }
std::string json_of(const wire::TokenPage& told) { return model::write_json(told); }
std::string json_of(const wire::IdentityRow& told) { return model::write_json(told); }
std::string json_of(const wire::IdentityPage& told) { return model::write_json(told); }
std::string json_of(const wire::PoolPage& told) { return model::write_json(told); }
std::string json_of(const wire::OfferRow& told) { return model::write_json(told); }
std::string json_of(const wire::OfferPage& told) { return model::write_json(told); }
std::string json_of(const wire::QueryAnswer& told) { return model::write_json(told); }
std::string json_of(const wire::HoldAnswer& told) { return model::write_json(told); }
std::string json_of(const wire::ContractAnswer& told) { return model::write_json(told); }
std::string json_of(const wire::ContractPage& told) { return model::write_json(told); }
std::string json_of(const wire::InvoiceAnswer& told) { return model::write_json(told); }
std::string json_of(const wire::EventBody& told) { return model::write_json(told); }
std::string json_of(const wire::EventPage& told) { return model::write_json(told); }
std::string json_of(const wire::ClusterAnswer& told) { return model::write_json(told); }
std::string json_of(const wire::ClusterPage& told) { return model::write_json(told); }
std::string json_of(const model::Cluster& cluster) { return model::write_json(cluster); }

Result<wire::EventPage> event_page_from(const std::string& json) {
  return model::read_json<wire::EventPage>(json, "answer");
}

Result<wire::ClusterAnswer> cluster_answer_from(const std::string& json) {
  return model::read_json<wire::ClusterAnswer>(json, "answer");
}

}  // namespace spillway::cli
