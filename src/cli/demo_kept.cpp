#include <filesystem>
#include <fstream>

#include "cli/demo_stage.h"
#include "cli/process_mark.h"

namespace spillway::cli {

Status stop_kept(const std::filesystem::path& given) {
  const auto folder = given.has_filename() ? given : given.parent_path();  // without the last slash
  std::ifstream file(folder / k_pids_file);
  // All that is in it will be removed: it must be one that a demo has made.
  if (!folder.filename().string().starts_with(k_folder_prefix) || !file) {
    return fail(Code::not_found, folder.string(), "no demo was kept there",
                "name the folder that spillway demo --keep printed");
  }
  if (!end_all(read_marks(file))) {
    return fail(Code::unavailable, folder.string(), "a process of it does not end", "try again");
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (!error) return {};
  return fail(Code::denied, folder.string(), "it cannot be removed: " + error.message(),
              "remove it by hand; its processes have ended");
}

}  // namespace spillway::cli
