// The words that follow `spillway driver`, and what they share with it.
#pragma once

#include <string>

#include "cli/asking.h"
#include "cli/word.h"
#include "services/driver/config.h"

namespace spillway::cli {

void add_driver_init(Word verb);
void add_driver_caller(Word verb);
void add_driver_units(Word verb);
void add_driver_peerings(Word verb);
void add_driver_order(Word verb);
void add_driver_end(Word verb);
void add_driver_watch(Word verb);

void add_driver_folder(Word word, std::string& folder);
Result<driver::DriverConfig> read_driver_config(const std::string& folder);

std::string driver_authority(const std::string& folder);  // where its own is
Status make_driver_folder(const std::string& folder);

struct NewDriverCaller {
  std::string name;
  std::string into;              // a folder
  std::string authorities = {};  // a file: who has signed the driver's certificate
};
// Answers where it reaches the driver. Made again, it keeps its key.
Result<std::string> make_driver_caller(const std::string& folder, const NewDriverCaller& wanted);

// Whose certificate, which driver, how the answer is shown.
void add_driver_asking(Word word, Asking& asking);

}  // namespace spillway::cli
