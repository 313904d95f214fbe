#include "embedded/liqo/mirror.h"

#include <algorithm>

#include <fmt/format.h>

#include "embedded/document.h"
#include "embedded/liqo/foreign_clusters.h"

namespace spillway::embedded::liqo {
namespace {

using model::Node;
using model::put;
using model::text_node;

bool same_part(const Node& a, const Node& b, std::string_view key) {
  const Node* one = model::look(a, {key});
  const Node* other = model::look(b, {key});
  const Node none = model::object_node();
  return model::same(one == nullptr ? none : *one, other == nullptr ? none : *other);
}

// Annotations travel at creation only.
Node copy_for(const Setting& setting, const Object& local, const std::string& space) {
  const Node document = local.document();
  Node made = new_document({space, local.key.name}, {}, nullptr);
  put(made, "apiVersion", text_node(local.kind->api_version()));
  put(made, "kind", text_node(local.kind->name));
  Node& metadata = model::ensure(made, {"metadata"});
  for (const std::string_view key : {"labels", "annotations"}) {
    if (const Node* part = model::look(document, {"metadata", key})) put(metadata, key, *part);
  }
  Node& labels = model::ensure(metadata, {"labels"});
  put(labels, codec::k_replication_label, text_node("false"));
  put(labels, codec::k_replicated_label, text_node("true"));
  put(labels, codec::k_origin_label, text_node(setting.id()));
  put(labels, codec::k_peer_label, text_node(setting.id()));
  if (const Node* spec = model::look(document, {"spec"})) put(made, "spec", *spec);
  return made;
}

}  // namespace

Mirror::Mirror(const Setting& setting, Remote& remote, const codec::Kind& kind, MirrorPlace place)
    : s_(setting),
      remote_(remote),
      kind_(kind),
      place_(std::move(place)),
      turn_(setting.loop, [this] { work(); }),
      watch_(remote.api(), resource_of(kind),
             {place_.there,
              fmt::format("{}=true,{}={}", codec::k_replicated_label, codec::k_origin_label,
                          setting.id()),
              {}},
             {.on_put = [this](const Node& theirs) { heard(theirs); },
              .on_gone =
                  [this](const kube::Name& gone) {
                    told_.erase(gone.name);
                    theirs_.erase(gone.name);
                    look_soon(gone.name);
                  },
              .on_synced = [this] { on_listed(); }}) {
  watch_.start();
}

void Mirror::look_soon(const std::string& name) {
  changed_.insert(name);
  turn_.soon();
}

bool Mirror::is_idle() const {
  if (!theirs_.empty()) return false;
  const auto here = s_.all(kind_, place_.here);
  return std::none_of(here.begin(), here.end(),
                      [this](const ObjectPtr& one) { return ours(one->key.name) != nullptr; });
}

// What was made and is not in a list is gone, and nothing else will tell.
void Mirror::on_listed() {
  std::erase_if(theirs_, [this](const auto& one) { return !told_.contains(one.first); });
  look_at_all();
}

void Mirror::look_at_all() {
  for (const ObjectPtr& local : s_.all(kind_, place_.here)) look_soon(local->key.name);
}

void Mirror::work() {
  for (const std::string& name : std::exchange(changed_, {})) look_at(name);
}

ObjectPtr Mirror::ours(const std::string& name) const {
  ObjectPtr local = s_.find(kind_, {place_.here, name});
  const bool is_ours = local != nullptr && label_of(*local, codec::k_replication_label) == "true" &&
                       label_of(*local, codec::k_destination_label) == place_.provider;
  return is_ours ? local : nullptr;
}

void Mirror::look_at(const std::string& name) {
  const ObjectPtr local = ours(name);
  if (local == nullptr) return;
  if (!local->is_deleting) return keep(*local);
  end(*local);
}

// Where a peer is given up, nobody waits for it.
void Mirror::end(const Object& local) {
  const std::string& name = local.key.name;
  const bool is_given_up = is_peer_given_up(s_, place_.provider);
  if (!is_given_up && (!watch_.is_synced() || busy_.contains(name))) return;
  const auto theirs = theirs_.find(name);
  if (theirs == theirs_.end() || is_given_up) {
    return s_.change(kind_, local.key,
                     [](Node& document) { drop_finalizer(document, codec::k_copy_finalizer); });
  }
  if (!is_being_deleted(theirs->second)) remove(name);
}

void Mirror::keep(const Object& local) {
  const std::string& name = local.key.name;
  if (!watch_.is_synced() || busy_.contains(name)) return;
  if (!has_finalizer(local.document(), codec::k_copy_finalizer)) {
    return s_.change(kind_, local.key,
                     [](Node& document) { add_finalizer(document, codec::k_copy_finalizer); });
  }
  const auto theirs = theirs_.find(name);
  if (theirs == theirs_.end()) return make(local);
  if (is_being_deleted(theirs->second)) return;
  if (!same_part(local.document(), theirs->second, "spec")) return update(local, theirs->second);
  take_status(local, theirs->second);
}

template <class Done>
auto Mirror::answered(const std::string& name, Done done) {
  busy_.insert(name);
  return lifeline_.guard([this, name, done](auto answer) {
    busy_.erase(name);
    if (answer) done(*answer);
    tried(name, answer ? Status() : Status(tl::unexpected(answer.error())));
  });
}

// Who is forbidden to make one gives up, until something changes.
void Mirror::tried(const std::string& name, const Status& done) {
  if (done) {
    waits_.erase(name);
    return look_soon(name);
  }
  const bool is_there = theirs_.contains(name);
  if (done.error().code == Code::denied && !is_there) return;
  s_.loop.after(waits_[name].next(s_.objects.random),
                lifeline_.guard([this, name] { look_soon(name); }));
}

void Mirror::make(const Object& local) {
  remote_.api().create(resource_of(kind_), copy_for(s_, local, place_.there),
                       answered(local.key.name, [this](const Node& made) {
                         theirs_[std::string(name_of(made))] = made;
                       }));
}

void Mirror::update(const Object& local, const Node& theirs) {
  Node wanted = theirs;
  const Node document = local.document();
  if (const Node* spec = model::look(document, {"spec"})) put(wanted, "spec", *spec);
  remote_.api().replace(resource_of(kind_), wanted,
                        answered(local.key.name, [this](const Node& made) {
                          theirs_[std::string(name_of(made))] = made;
                        }));
}

void Mirror::take_status(const Object& local, const Node& theirs) {
  const Node* status = model::look(theirs, {"status"});
  if (status == nullptr || same_part(local.document(), theirs, "status")) return;
  s_.change(kind_, local.key, [&](Node& document) { put(document, "status", *status); });
}

void Mirror::remove(const std::string& name) {
  busy_.insert(name);
  const kube::RemoveAsked asked{.uid = std::string(kube::uid_in(theirs_.at(name)))};
  remote_.api().remove(resource_of(kind_), {place_.there, name}, asked,
                       lifeline_.guard([this, name](const Status& done) {
                         busy_.erase(name);
                         if (done) return;  // the watch tells when it is gone
                         const Code code = done.error().code;
                         if (code == Code::not_found) theirs_.erase(name);
                         tried(name, code == Code::not_found ? Status() : done);
                       }));
}

// A copy of what is not there any more goes, when it is touched.
void Mirror::heard(const Node& theirs) {
  const std::string name(name_of(theirs));
  told_.insert(name);
  const auto known = theirs_.find(name);
  if (known != theirs_.end() && kube::version_in(known->second) == kube::version_in(theirs)) return;
  theirs_[name] = theirs;
  if (ours(name) != nullptr) return look_soon(name);
  if (!is_being_deleted(theirs) && !busy_.contains(name)) remove(name);
}

}  // namespace spillway::embedded::liqo
