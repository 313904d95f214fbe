// The words that follow `spillway broker`, and what they share with it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/word.h"

namespace spillway::cli {

void add_broker_init(Word verb);
void add_broker_authority(Word verb);
void add_broker_operator(Word verb);

void add_data(Word word, std::string& data);  // --data
std::string data_folder(const std::string& given);
std::string authority_in(const std::string& data);
std::string market_in(const std::string& data);
std::string operator_in(const std::string& data);         // the identity that init makes
Result<std::string> broker_url(const std::string& data);  // as its settings have it
std::string url_text(const std::string& host, uint16_t port);

}  // namespace spillway::cli
