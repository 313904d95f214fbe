#include "services/agent/reload.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <utility>

#include <sys/stat.h>

#include "model/node.h"

namespace spillway::agent {
namespace {

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) {
    // One byte more than is allowed: the parser refuses it by its size.
    text.resize(model::k_max_row_bytes + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad()) {
    return fail(Code::not_found, path, "it cannot be read",
                "write it again; until then the last good one holds");
  }
  return text;
}

}  // namespace

Reload::Reload(host::Loop& loop, services::Log& log, std::string what, std::string path, Take take)
    : loop_(loop),
      log_(log),
      what_(std::move(what)),
      path_(std::move(path)),
      take_(std::move(take)) {}

Reload::Stamp Reload::stamp() const {
  struct stat facts {};
  if (::stat(path_.c_str(), &facts) != 0) return {};
  return {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_ino, facts.st_size};
}

Result<std::string> Reload::read() {
  taken_ = stamp();  // first: an edit while we read is seen as another one
  return read_text(path_);
}

void Reload::start() {
  loop_.after(k_look, life_.guard([this] {
    look();
    start();
  }));
}

void Reload::look() {
  const Stamp seen = stamp();
  if (seen == taken_) return;
  loop_.after(k_quiet, life_.guard([this, seen] {
    if (stamp() == seen && seen != taken_) take();
  }));
}

void Reload::look_now() { take(); }

void Reload::take() {
  const auto text = read();
  const Status status = text ? take_(*text) : tl::unexpected(text.error());
  is_good_ = status.has_value();
  if (status) return log_.write(services::Level::info, what_ + " taken", {{"file", path_}});
  log_.write(services::Level::error, what_ + " not taken; the last good one holds",
             {{"file", path_}, {"why", status.error().message()}});
}

}  // namespace spillway::agent
