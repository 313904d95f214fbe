// The nouns as documents: JSON on the wire and in stores, YAML in people's files. Both carry
// `version: 1` and may say `noun: offer`. Reading checks all that validate() checks; an error names
// `source`, the line and the path of what is wrong. from_json(to_json(x)) == x for every valid x.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace spillway::model {

struct Pool;
struct Offer;
struct Cluster;
struct Contract;
struct Intent;

std::string to_json(const Pool& pool);
std::string to_json(const Offer& offer);
std::string to_json(const Cluster& cluster);
std::string to_json(const Contract& contract);
std::string to_json(const Intent& intent);

Result<Pool> pool_from_json(std::string_view text, std::string_view source = "pool");
Result<Offer> offer_from_json(std::string_view text, std::string_view source = "offer");
Result<Cluster> cluster_from_json(std::string_view text, std::string_view source = "cluster");
Result<Contract> contract_from_json(std::string_view text, std::string_view source = "contract");
Result<Intent> intent_from_json(std::string_view text, std::string_view source = "intent");

Result<Pool> pool_from_yaml(std::string_view text, std::string_view source = "pool");
Result<Offer> offer_from_yaml(std::string_view text, std::string_view source = "offer");
Result<Cluster> cluster_from_yaml(std::string_view text, std::string_view source = "cluster");
Result<Contract> contract_from_yaml(std::string_view text, std::string_view source = "contract");
Result<Intent> intent_from_yaml(std::string_view text, std::string_view source = "intent");

// What a YAML file says it describes ("offer"), for those who are given any; it must say so.
Result<std::string> noun_in_yaml(std::string_view text, std::string_view source = "document");

}  // namespace spillway::model
