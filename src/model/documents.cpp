#include "model/documents.h"

#include "model/fields.h"

namespace spillway::model {
namespace {

Heading json_heading(std::string_view noun, std::string_view source) {
  return {.what = source, .noun = noun, .max_bytes = k_max_document_bytes};
}

Heading yaml_heading(std::string_view noun, std::string_view source) {
  return {
      .what = source, .noun = noun, .pointing = Pointing::line, .max_bytes = k_max_document_bytes};
}

}  // namespace

std::string to_json(const Pool& pool) { return write_json(pool); }
std::string to_json(const Offer& offer) { return write_json(offer); }
std::string to_json(const Cluster& cluster) { return write_json(cluster); }
std::string to_json(const Contract& contract) { return write_json(contract); }
std::string to_json(const Intent& intent) { return write_json(intent); }

Result<Pool> pool_from_json(std::string_view text, std::string_view source) {
  return read_json<Pool>(text, json_heading("pool", source));
}
Result<Offer> offer_from_json(std::string_view text, std::string_view source) {
  return read_json<Offer>(text, json_heading("offer", source));
}
Result<Cluster> cluster_from_json(std::string_view text, std::string_view source) {
  return read_json<Cluster>(text, json_heading("cluster", source));
}
Result<Contract> contract_from_json(std::string_view text, std::string_view source) {
  Heading heading = json_heading("contract", source);
  heading.max_bytes = k_max_row_bytes;  // ten thousand units need more than a megabyte
  return read_json<Contract>(text, heading);
}
Result<Intent> intent_from_json(std::string_view text, std::string_view source) {
  return read_json<Intent>(text, json_heading("intent", source));
}

Result<Pool> pool_from_yaml(std::string_view text, std::string_view source) {
  return read_yaml<Pool>(text, yaml_heading("pool", source));
}
Result<Offer> offer_from_yaml(std::string_view text, std::string_view source) {
  return read_yaml<Offer>(text, yaml_heading("offer", source));
}
Result<Cluster> cluster_from_yaml(std::string_view text, std::string_view source) {
  return read_yaml<Cluster>(text, yaml_heading("cluster", source));
}
Result<Contract> contract_from_yaml(std::string_view text, std::string_view source) {
  return read_yaml<Contract>(text, yaml_heading("contract", source));
}
Result<Intent> intent_from_yaml(std::string_view text, std::string_view source) {
  return read_yaml<Intent>(text, yaml_heading("intent", source));
}

Result<std::string> noun_in_yaml(std::string_view text, std::string_view source) {
  const auto root = parse_yaml(text, source);
  if (!root) return tl::unexpected(root.error());
  const Node* noun = root->find("noun");
  if (noun == nullptr || noun->kind != Node::Kind::string) {
    return fail(Code::invalid, std::string(source), "it does not say what it describes",
                "add noun: offer, pool, cluster or intent");
  }
  return noun->text;
}

}  // namespace spillway::model
