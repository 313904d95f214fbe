#include "embedded/table.h"

#include <algorithm>

#include "base/check.h"

namespace spillway::embedded {

ObjectPtr Table::find(const Kind& kind, const Key& key) const {
  const Shelf& all = shelf(kind);
  const auto found = all.find(key);
  return found == all.end() ? nullptr : found->second;
}

const Shelf& Table::shelf(const Kind& kind) const {
  static const Shelf k_empty;
  return kind.number < shelves_.size() ? shelves_[kind.number] : k_empty;
}

Shelf& Table::own_shelf(const Kind& kind) {
  if (kind.number >= shelves_.size()) shelves_.resize(kind.number + 1);
  return shelves_[kind.number];
}

std::optional<Shelf> Table::shelf_at(const Kind& kind, int64_t version) const {
  if (version < forgotten_ || version > version_) return std::nullopt;
  Shelf then = shelf(kind);
  for (auto change = history_.rbegin(); change != history_.rend(); ++change) {
    if (change->object->version <= version) break;
    if (change->object->kind != &kind) continue;
    if (change->before != nullptr) {
      then[change->object->key] = change->before;
    } else {
      then.erase(change->object->key);
    }
  }
  return then;
}

ObjectPtr Table::write(const Kind& kind, model::Node document) {
  ObjectPtr object = make_object(kind, std::move(document), ++version_);
  ObjectPtr& place = own_shelf(kind)[object->key];
  ObjectPtr before = std::exchange(place, object);
  const auto type = before == nullptr ? Change::Type::added : Change::Type::modified;
  tell({type, object, std::move(before)});
  return object;
}

ObjectPtr Table::remove(const Kind& kind, const Key& key) {
  auto taken = own_shelf(kind).extract(key);
  SPILLWAY_CHECK(!taken.empty(), "what is removed must be there");
  ObjectPtr before = std::move(taken.mapped());
  ObjectPtr last = make_object(kind, before->document(), ++version_);
  tell({Change::Type::deleted, last, std::move(before)});
  return last;
}

void Table::tell(Change change) {
  history_bytes_ += change.object->text.size();
  history_.push_back(change);
  while (history_.size() > bounds_.changes ||
         (history_bytes_ > bounds_.bytes && history_.size() > 1)) {
    forgotten_ = history_.front().object->version;
    history_bytes_ -= history_.front().object->text.size();
    history_.pop_front();
  }
  for (const Listener& listener : listeners_) listener(change);
}

void Table::forget_history() {
  history_.clear();
  history_bytes_ = 0;
  forgotten_ = version_;
}

void Table::fall_back(int64_t versions) {
  version_ = std::max<int64_t>(1, version_ - versions);
  forget_history();
}

}  // namespace spillway::embedded
