// The words that follow `spillway broker`, and what they share with it.
#pragma once

#include <cstdint>
#include <string>

#include "cli/words.h"

namespace spillway::cli {

void add_broker_init(Words& words);
void add_broker_authority(Words& words);

void add_data(CLI::App& word, std::string& data);  // --data
std::string data_folder(const std::string& given);
std::string url_text(const std::string& host, uint16_t port);

}  // namespace spillway::cli
