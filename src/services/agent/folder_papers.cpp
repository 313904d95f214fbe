#include "services/agent/folder_papers.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "model/node.h"
#include "pki/file_handle.h"
#include "pki/private_file.h"
#include "services/agent/evidence.h"

namespace spillway::agent {
namespace {

constexpr std::string_view k_paper_suffix = ".json";

// Makes the folder and waits for whoever changes something in it: never for long.
Result<pki::FileHandle> lock_papers(const std::string& folder) {
  SPILLWAY_TRY(pki::make_private_folder(folder));
  const std::string path = folder + "/lock";
  pki::FileHandle lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.is_open()) return pki::fail_errno(path, "it cannot be opened", errno);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return pki::fail_errno(path, "it cannot be locked", errno);
  }
  return lock;
}

// None: there is no such file. A contract of a thousand units that are metered and given back one
// by one has a paper of more than a megabyte.
template <class T, class Parse>
Result<std::optional<T>> read_paper_file(const std::string& path, const Parse& parse) {
  const auto bytes = pki::read_private(path, pki::Readers::owner_only, model::k_max_row_bytes);
  if (!bytes) {
    if (bytes.error().code == Code::not_found) return std::optional<T>();
    return tl::unexpected(bytes.error());
  }
  auto read = parse(bytes->view(), path);
  if (!read) return tl::unexpected(std::move(read).error());
  return std::optional<T>(std::move(*read));
}

}  // namespace

Result<TrustBook> FolderPapers::read_trust_now() const {
  auto known = read_paper_file<TrustBook>(trust_path(), trust_from_json);
  if (!known) {
    // Beginning anew would believe anybody once more: that is for the operator to say.
    Error error = std::move(known).error();
    if (error.code != Code::invalid) return tl::unexpected(std::move(error));
    error.next = "mend it, or remove it: whoever is met next is pinned anew then";
    return tl::unexpected(std::move(error));
  }
  return known->value_or(TrustBook());
}

Result<TrustBook> FolderPapers::change_trust_now(const TrustChange& change) {
  const auto lock = lock_papers(folder_);
  if (!lock) return tl::unexpected(lock.error());
  auto book = read_trust_now();
  if (!book) return book;
  TrustBook next = *book;
  SPILLWAY_TRY(change(next));
  if (next != *book) SPILLWAY_TRY(pki::write_private(trust_path(), to_json(next)));
  return next;
}

Result<std::optional<Paper>> FolderPapers::find_now(const ContractId& id) const {
  SPILLWAY_TRY(check_contract_id(id.text));
  return read_paper_file<Paper>(path_of(id), [&id](std::string_view text, const std::string& path) {
    return kept_paper(text, path, id);
  });
}

// Under the lock.
Status FolderPapers::set_aside(const ContractId& id, const Error& why) {
  const std::string path = path_of(id);
  const std::string place = path + ".damaged";
  std::string now_at = place;
  std::error_code error;
  for (int i = 2; std::filesystem::exists(std::filesystem::symlink_status(now_at, error)); ++i) {
    now_at = fmt::format("{}-{}", place, i);
  }
  if (::rename(path.c_str(), now_at.c_str()) != 0) {
    return pki::fail_errno(path, "it is damaged, and cannot be set aside", errno);
  }
  tell_set_aside({path, why.reason, now_at});
  return {};
}

Result<Paper> FolderPapers::keep_now(const Paper& heard) {
  SPILLWAY_TRY(check_contract_id(heard.contract.text));
  const auto lock = lock_papers(folder_);
  if (!lock) return tl::unexpected(lock.error());
  auto kept = find_now(heard.contract);
  if (!kept && kept.error().code == Code::invalid) {
    SPILLWAY_TRY(set_aside(heard.contract, kept.error()));
    kept = std::optional<Paper>();
  }
  if (!kept) return tl::unexpected(kept.error());
  auto next = *kept ? merged(**kept, heard) : Result<Paper>(heard);
  if (!next || (*kept && *next == **kept)) return next;
  SPILLWAY_TRY(pki::write_private(path_of(heard.contract), to_json(*next)));
  return next;
}

Result<FolderPapers::All> FolderPapers::all() const {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder_, error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return pki::fail_errno(folder_, "it cannot be read", error.value());
  }
  std::sort(names.begin(), names.end());  // ids begin with their time
  All all;
  for (const std::string& name : names) {
    if (!name.ends_with(k_paper_suffix)) continue;
    const ContractId id(name.substr(0, name.size() - k_paper_suffix.size()));
    if (!check_contract_id(id.text)) continue;
    auto paper = find_now(id);
    if (!paper) {
      all.damaged.push_back(std::move(paper).error());
    } else if (*paper) {
      all.papers.push_back(std::move(**paper));
    }
  }
  return all;
}

Status FolderPapers::remove(const ContractId& id) {
  SPILLWAY_TRY(check_contract_id(id.text));
  const auto lock = lock_papers(folder_);
  if (!lock) return tl::unexpected(lock.error());
  const std::string path = path_of(id);
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return pki::fail_errno(path, "it cannot be removed", errno);
}

}  // namespace spillway::agent
