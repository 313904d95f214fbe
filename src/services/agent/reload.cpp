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

Reload::Reload(host::Loop& loop, services::Log& log, std::string path, ClusterId cluster,
               std::function<void(Supply)> then)
    : loop_(loop),
      log_(log),
      path_(std::move(path)),
      cluster_(std::move(cluster)),
      then_(std::move(then)) {}

Reload::Stamp Reload::stamp() const {
  struct stat facts {};
  if (::stat(path_.c_str(), &facts) != 0) return {};
  return {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_ino, facts.st_size};
}

Result<Supply> Reload::read() {
  taken_ = stamp();  // first: an edit while we read is seen as another one
  const auto text = read_text(path_);
  if (!text) return tl::unexpected(text.error());
  return supply_from_yaml(*text, cluster_, path_);
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
  auto supply = read();
  if (!supply) {
    log_.write(services::Level::error, "supply not taken; the last good one holds",
               {{"file", path_}, {"why", supply.error().message()}});
    return;
  }
  log_.write(services::Level::info, "supply taken",
             {{"file", path_},
              {"pools", std::to_string(supply->pools.size())},
              {"offers", std::to_string(supply->offers.size())}});
  then_(std::move(*supply));
}

}  // namespace spillway::agent
