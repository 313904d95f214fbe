#include "cli/use_options.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/money.h"
#include "base/text.h"
#include "cli/files.h"
#include "cli/parse.h"

namespace spillway::cli {
namespace {

constexpr int64_t k_ms_an_hour = 3'600'000;
constexpr int64_t k_mib_s_a_gib_hour = int64_t{1024} * 3600;

// Hours with up to six decimals, in the unit that `an_hour` counts.
Result<int64_t> hours_in(std::string_view text, int64_t an_hour) {
  const auto millionths = parse_micros(text);
  if (!millionths) return tl::unexpected(millionths.error());
  const Int128 exact = Int128{*millionths} * an_hour / 1'000'000;
  if (exact >= 0 && exact <= model::k_max_use) return static_cast<int64_t>(exact);
  return fail(Code::invalid, std::string(text), "it is out of range", "give hours from 0 on");
}

Status set_hours(std::string_view option, std::string_view text, int64_t an_hour, int64_t& into) {
  if (text.empty()) return {};
  const auto hours = hours_in(text, an_hour);
  if (!hours) return tl::unexpected(of_option(option, hours.error()));
  into = *hours;
  return {};
}

Status put_hours(std::string_view option, const std::vector<std::string>& texts,
                 model::Counts& into) {
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(Code::invalid, std::string(option), in_quotes(text) + " is not NAME=HOURS",
                  "write such as nvidia-a100=1.5");
    }
    int64_t amount = 0;
    SPILLWAY_TRY(set_hours(option, text.substr(equals + 1), k_ms_an_hour, amount));
    if (amount > 0) put_count(into, {text.substr(0, equals), amount});
  }
  return {};
}

Status put_resource(model::Use& use, const std::string& name, const std::string& hours) {
  if (name == "cpu") return set_hours(name, hours, k_ms_an_hour, use.cpu_core_ms);
  if (name == "memory") return set_hours(name, hours, k_mib_s_a_gib_hour, use.memory_mib_s);
  if (name == "storage") return set_hours(name, hours, k_mib_s_a_gib_hour, use.storage_mib_s);
  constexpr std::string_view k_gpu = "gpu/";
  const bool is_gpu = name.starts_with(k_gpu);
  if (!is_gpu && name.find('/') == std::string::npos) {
    return fail(Code::invalid, name, "it is no resource",
                "use cpu, memory, storage, gpu/MODEL or a name with a slash");
  }
  const std::string text = (is_gpu ? name.substr(k_gpu.size()) : name) + "=" + hours;
  return put_hours(name, {text}, is_gpu ? use.gpu_ms : use.extended_ms);
}

Status read_line(const std::string& line, std::map<int32_t, model::Use>& by_unit) {
  const std::vector<std::string> words = split(line, ' ');
  if (words.empty()) return {};
  int32_t unit = -1;
  const std::string& first = words[0];
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), unit);
  if (words.size() != 3 || error != std::errc{} || end != first.data() + first.size() || unit < 0) {
    return fail(Code::invalid, in_quotes(line), "it is not UNIT RESOURCE HOURS",
                "write such as: 0 cpu 12.5");
  }
  return put_resource(by_unit[unit], words[1], words[2]);
}

}  // namespace

void add_use_options(Word word, UseOptions& options) {
  constexpr const char* k_group = "What was used, in all since the start of the unit";
  word.option("-f,--file", options.file,
              "Readings of several units, a line each: UNIT RESOURCE HOURS")
      .type_name("FILE");
  word.option("--unit", options.unit, "Of this unit").not_negative().show_default();
  const auto hours = [&](const char* name, std::string& into, const char* help) {
    word.option(name, into, help).type_name("HOURS").group(k_group);
  };
  hours("--cpu-hours", options.cpu_hours, "Hours of a core: 12.5");
  hours("--memory-gib-hours", options.memory_gib_hours, "Hours of a GiB of memory");
  hours("--storage-gib-hours", options.storage_gib_hours, "Hours of a GiB of storage");
  word.option("--gpu-hours", options.gpu_hours, "By model: nvidia-a100=1.5; may be repeated")
      .type_name("MODEL=HOURS")
      .may_repeat()
      .group(k_group);
  word.option("--extended-hours", options.extended_hours,
              "By resource: example.com/fpga=2; may be repeated")
      .type_name("NAME=HOURS")
      .may_repeat()
      .group(k_group);
}

Result<std::vector<model::MeteredUse>> readings_in(const std::string& text,
                                                   const std::string& source) {
  std::map<int32_t, model::Use> by_unit;
  int number = 0;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    line.resize(std::min(line.find('#'), line.size()));
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::erase(line, '\r');
    begin = end + 1;
    ++number;
    if (auto read = read_line(line, by_unit); !read) {
      Error error = std::move(read).error();
      error.thing = fmt::format("{}, line {}: {}", source, number, error.thing);
      return tl::unexpected(std::move(error));
    }
  }
  std::vector<model::MeteredUse> used;
  for (const auto& [unit, use] : by_unit) used.push_back({unit, use});
  if (auto checked = model::check_readings(source, used); !checked) {
    return tl::unexpected(std::move(checked).error());
  }
  return used;
}

Result<std::vector<model::MeteredUse>> readings_from(const UseOptions& options) {
  if (!options.file.empty()) {
    const auto text = read_file(options.file);
    if (!text) return tl::unexpected(text.error());
    return readings_in(*text, options.file);
  }
  model::Use use;
  const auto set = [&]() -> Status {
    SPILLWAY_TRY(set_hours("--cpu-hours", options.cpu_hours, k_ms_an_hour, use.cpu_core_ms));
    SPILLWAY_TRY(set_hours("--memory-gib-hours", options.memory_gib_hours, k_mib_s_a_gib_hour,
                           use.memory_mib_s));
    SPILLWAY_TRY(set_hours("--storage-gib-hours", options.storage_gib_hours, k_mib_s_a_gib_hour,
                           use.storage_mib_s));
    SPILLWAY_TRY(put_hours("--gpu-hours", options.gpu_hours, use.gpu_ms));
    return put_hours("--extended-hours", options.extended_hours, use.extended_ms);
  };
  if (auto done = set(); !done) return tl::unexpected(std::move(done).error());
  if (use.is_zero()) {
    return fail(Code::invalid, "contracts meter", "nothing was used, by these options",
                "give --cpu-hours or another of them, or a file with -f");
  }
  return std::vector<model::MeteredUse>{{options.unit, std::move(use)}};
}

}  // namespace spillway::cli
