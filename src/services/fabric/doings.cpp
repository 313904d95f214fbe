#include "services/fabric/doings.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "model/tree.h"
#include "services/fabric/resource.h"

namespace spillway::agent {
namespace {

kube::Name name_at(const fabric::Place& at) { return {at.space, at.name}; }

std::string text_of(const fabric::Place& at) {
  return fmt::format("{} {}/{}", at.kind.plural, at.space, at.name);
}

// The object that a deed is about, as it was seen; empty: however it is.
std::string version_in(const fabric::Deed& deed) {
  if (const auto* one = std::get_if<fabric::Remove>(&deed)) return one->version;
  const auto* merge = std::get_if<fabric::Merge>(&deed);
  if (merge == nullptr) return {};
  return std::string(model::text_at(merge->patch, {"metadata", "resourceVersion"}));
}

// Without the version: what somebody undoes again and again is one deed, and done once a while.
std::string content_of(model::Node patch) {
  if (model::look(patch, {"metadata", "resourceVersion"}) != nullptr) {
    model::put(model::ensure(patch, {"metadata"}), "resourceVersion", model::Node{});
  }
  return model::to_json(patch);
}

std::string key_of_making(const fabric::Place& at) { return "create " + text_of(at); }

// Of the same deed: another content is another deed. Nothing, of what is only said.
std::string key_of_deed(const fabric::Deed& deed) {
  if (const auto* one = std::get_if<fabric::Create>(&deed)) return key_of_making(one->at);
  if (const auto* one = std::get_if<fabric::Merge>(&deed)) {
    return fmt::format("change {} {}", text_of(one->at),
                       std::hash<std::string>{}(content_of(one->patch)));
  }
  if (const auto* one = std::get_if<fabric::Remove>(&deed)) {
    return fmt::format("remove {} {}{}", text_of(one->at), one->uid,
                       one->is_forced ? " by force" : "");
  }
  if (const auto* one = std::get_if<fabric::Evict>(&deed)) {
    return fmt::format("evict pods {}/{}", one->space, one->pod);
  }
  return {};
}

template <class T>
std::optional<Error> unless_fine(const Result<T>& answer, std::initializer_list<Code> fine) {
  if (answer) return std::nullopt;
  const Code code = answer.error().code;
  if (std::find(fine.begin(), fine.end(), code) != fine.end()) return std::nullopt;
  return answer.error();
}

// Refused for its uid: there is another of that name, and the one that was meant is gone. Whoever
// named none, or a version besides, does not know what was meant by it.
bool meant_is_gone(const fabric::Remove& deed, const Result<void>& answer) {
  if (answer) return true;
  const Code code = answer.error().code;
  if (code == Code::not_found) return true;
  const bool is_about_uid = !deed.uid.empty() && deed.version.empty();
  return is_about_uid && (code == Code::conflict || code == Code::contended);
}

}  // namespace

MissingLabels missing_labels(const model::Node& wanted, const kube::Object& seen) {
  MissingLabels missing{model::object_node(), {}};
  const model::Node* labels = model::look(wanted, {"metadata", "labels"});
  for (const model::Node& one : labels == nullptr ? std::vector<model::Node>() : labels->items) {
    if (!one.key.starts_with("liqo.io/") || kube::label_in(seen, one.key) == one.text) continue;
    model::put(model::ensure(missing.patch, {"metadata", "labels"}), one.key, one);
    missing.names += (missing.names.empty() ? "" : ", ") + one.key;
  }
  return missing;
}

Doings::~Doings() { in_flight_ -= own_in_flight_; }

Instant Doings::want(const std::vector<fabric::Deed>& deeds) {
  const Instant now = api_.loop().now();
  Instant next = k_last_instant;
  for (auto& one : doings_) one.second.is_wanted = false;
  for (const fabric::Deed& deed : deeds) {
    const std::string key = key_of_deed(deed);
    if (key.empty() || is_being_made(deed)) continue;
    Doing& doing = doings_[key];
    doing.is_wanted = true;
    if (doing.is_under_way) continue;
    // A due time further away than anyone would wait is one of before the clock was put back.
    const bool is_late = doing.due <= now || doing.due - now > host::k_refused_wait;
    // Whoever was faster has been seen meanwhile.
    const bool is_due = is_late || (doing.is_contended && version_in(deed) != doing.version);
    if (!is_due) {
      next = std::min(next, doing.due);
    } else if (in_flight_ >= k_most_in_flight) {
      next = std::min(next, now + k_full_wait);
    } else if (own_in_flight_ < k_most_of_one) {  // else the next answer leads to another look
      begin(key, deed);
    }
  }
  std::erase_if(doings_,
                [](const auto& one) { return !one.second.is_wanted && !one.second.is_under_way; });
  return next;
}

bool Doings::is_being_made(const fabric::Deed& deed) const {
  const auto* remove = std::get_if<fabric::Remove>(&deed);
  if (remove == nullptr) return false;
  const auto making = doings_.find(key_of_making(remove->at));
  return making != doings_.end() && making->second.is_under_way;
}

std::vector<fabric::Trouble> Doings::troubles() const {
  std::vector<fabric::Trouble> all;
  for (const auto& [key, doing] : doings_) {
    if (!doing.is_wanted || !doing.refused) continue;
    all.push_back({doing.refused->thing, doing.refused->reason, doing.refused->next});
  }
  return all;
}

void Doings::hurry() {
  for (auto& [key, doing] : doings_) {
    if (doing.backoff.failures() > 0) doing.due = {};
  }
}

void Doings::begin(const std::string& key, const fabric::Deed& deed) {
  doings_.at(key).is_under_way = true;
  doings_.at(key).version = version_in(deed);
  in_flight_ += 1;
  own_in_flight_ += 1;
  if (const auto* one = std::get_if<fabric::Create>(&deed)) create(key, *one);
  if (const auto* one = std::get_if<fabric::Merge>(&deed)) merge(key, *one);
  if (const auto* one = std::get_if<fabric::Remove>(&deed)) remove(key, *one);
  if (const auto* one = std::get_if<fabric::Evict>(&deed)) evict(key, *one);
}

void Doings::create(const std::string& key, const fabric::Create& deed) {
  const auto made = [this, key, deed](const Result<kube::Object>& answer) {
    if (answer) calls_.made(deed.at);
    const bool is_there = !answer && answer.error().code == Code::conflict;
    int& was_there = doings_.at(key).was_there;
    was_there = is_there ? was_there + 1 : 0;
    if (was_there > 1) return label(key, deed);
    end(key, unless_fine(answer, {Code::conflict}));
  };
  api_.create(resource_of(deed.at.kind), deed.object, life_.guard(made));
}

void Doings::label(const std::string& key, const fabric::Create& deed) {
  const auto look = [this, key, deed](const Result<kube::Object>& found) {
    if (!found) return end(key, unless_fine(found, {Code::not_found}));
    const MissingLabels missing = missing_labels(deed.object, *found);
    if (kube::is_being_deleted(*found)) return end(key, std::nullopt);
    if (missing.names.empty()) return end(key, unseen(key, deed.at));
    const auto labelled = [this, key, at = deed.at,
                           names = missing.names](const Result<kube::Object>& answer) {
      if (answer) calls_.labelled(at, names);
      end(key, unless_fine(answer, {Code::not_found}));
    };
    api_.patch(resource_of(deed.at.kind), name_at(deed.at), kube::PatchKind::merge, missing.patch,
               life_.guard(labelled));
  };
  api_.get(resource_of(deed.at.kind), name_at(deed.at), life_.guard(look));
}

// As it was wanted, and not seen: what watches is late, or cannot read it.
std::optional<Error> Doings::unseen(const std::string& key, const fabric::Place& at) const {
  if (doings_.at(key).was_there <= k_late_sights) return std::nullopt;
  return Error{Code::invalid, to_text(at), "it is there, and cannot be read",
               "the log says why; look at what has written it, or remove it"};
}

void Doings::merge(const std::string& key, const fabric::Merge& deed) {
  api_.patch(resource_of(deed.at.kind), name_at(deed.at), kube::PatchKind::merge, deed.patch,
             life_.guard([this, key, at = deed.at](const Result<kube::Object>& answer) {
               if (answer) calls_.changed(at);
               end(key, unless_fine(answer, {Code::not_found}));
             }),
             deed.of_status ? "status" : "");
}

void Doings::remove(const std::string& key, const fabric::Remove& deed) {
  const int64_t grace = deed.is_forced ? 0 : kube::RemoveAsked{}.grace_seconds;
  api_.remove(resource_of(deed.at.kind), name_at(deed.at),
              {.uid = deed.uid, .version = deed.version, .grace_seconds = grace},
              life_.guard([this, key, deed](const Result<void>& answer) {
                const auto refused =
                    meant_is_gone(deed, answer) ? std::nullopt : unless_fine(answer, {});
                if (!refused) calls_.removed(deed.at);
                end(key, refused);
              }));
}

void Doings::evict(const std::string& key, const fabric::Evict& deed) {
  api_.evict({deed.space, deed.pod}, life_.guard([this, key](const Result<void>& answer) {
    end(key, unless_fine(answer, {Code::not_found}));
  }));
}

void Doings::end(const std::string& key, const std::optional<Error>& refused) {
  Doing& doing = doings_.at(key);
  doing.is_under_way = false;
  in_flight_ -= 1;
  own_in_flight_ -= 1;
  const Instant now = api_.loop().now();
  doing.is_contended =
      refused && (refused->code == Code::contended || refused->code == Code::conflict);
  if (!refused) {
    doing.backoff.reset();
    doing.refused.reset();
    doing.due = now + k_settle;
  } else {
    doing.due = now + doing.backoff.next(api_.random());
    if (refused->code != Code::contended) doing.refused = refused;
  }
  calls_.answered();
}

}  // namespace spillway::agent
