#include "services/agent/cluster_papers.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "services/agent/evidence.h"

namespace spillway::agent {
namespace {

constexpr int k_edit_tries = 5;
constexpr const char* k_trust_key = "trust.json";
constexpr const char* k_paper_key = "paper.json";

// All of a ConfigMap may have 1 MiB: of what is set aside there is not more than this.
constexpr size_t k_most_aside = size_t{256} * 1024;

std::string source_of(const kube::Name& name, std::string_view key) {
  return fmt::format("{}, {}", kube::to_text(kube::k_config_maps, name), key);
}

// The first that is free, up to the last, which is written over: a bound.
std::string key_aside(const kube::Object& object) {
  constexpr int k_most_times = 3;
  std::string key = "damaged.json";
  for (int i = 2; i <= k_most_times && !model::text_at(object, {"data", key}).empty(); ++i) {
    key = fmt::format("damaged-{}.json", i);
  }
  return key;
}

bool is_ended(const kube::Object& paper) {
  return !kube::annotation_in(paper, ClusterPapers::k_ended).empty();
}

bool is_complete(const kube::Object& object) {
  const auto paper = paper_from_json(model::text_at(object, {"data", k_paper_key}), "paper");
  return paper && paper->complete;
}

}  // namespace

struct ClusterPapers::Editing {
  kube::Name name;
  const char* key;
  bool is_paper = false;
  Edit edit;
  std::function<void(Result<std::string>)> then;
  int tries = k_edit_tries;
  std::string text;  // as it will be
  bool is_ended = false;
  std::string damage;  // of the one before, which is set aside; empty: there is none
  std::string aside;   // under this key
};

void ClusterPapers::edit(const std::shared_ptr<Editing>& editing) {
  api_.get(kube::k_config_maps, editing->name,
           life_.guard([this, editing](Result<kube::Object> found) {
             on_found(editing, std::move(found));
           }));
}

void ClusterPapers::on_found(const std::shared_ptr<Editing>& editing, Result<kube::Object> found) {
  const bool is_new = !found && found.error().code == Code::not_found;
  if (!found && !is_new) return editing->then(tl::unexpected(std::move(found).error()));
  const std::string before =
      is_new ? std::string() : std::string(model::text_at(*found, {"data", editing->key}));
  auto after = editing->edit(before);
  if (!after) return editing->then(tl::unexpected(std::move(after).error()));
  editing->text = std::move(*after);
  if (editing->text == before) return editing->then(editing->text);
  kube::Object object =
      is_new ? kube::new_object(kube::k_config_maps, "ConfigMap", editing->name) : *found;
  model::put(model::ensure(object, {"data"}), editing->key, model::text_node(editing->text));
  if (!editing->damage.empty()) {
    editing->aside = key_aside(object);
    model::put(model::ensure(object, {"data"}), editing->aside,
               model::text_node(before.substr(0, k_most_aside)));
  }
  if (editing->is_paper) {
    model::put(model::ensure(object, {"metadata", "labels"}), k_label, model::text_node(name_));
  }
  if (editing->is_ended) {
    model::put(model::ensure(object, {"metadata", "annotations"}), k_ended,
               model::text_node("true"));
  }
  auto written = life_.guard(
      [this, editing](Result<kube::Object> put) { on_written(editing, std::move(put)); });
  if (!is_new) return api_.replace(kube::k_config_maps, object, std::move(written));
  api_.create(kube::k_config_maps, object, std::move(written));
  if (editing->is_paper) prune();
}

void ClusterPapers::on_written(const std::shared_ptr<Editing>& editing,
                               Result<kube::Object> written) {
  if (written) {
    if (!editing->damage.empty()) {
      tell_set_aside({source_of(editing->name, editing->key), editing->damage,
                      source_of(editing->name, editing->aside)});
    }
    return editing->then(editing->text);
  }
  // Somebody was faster: what they wrote is read, and the change made on that.
  const Code code = written.error().code;
  const bool was_changed =
      code == Code::contended || code == Code::conflict || code == Code::not_found;
  if (was_changed && --editing->tries > 0) return edit(editing);
  editing->then(tl::unexpected(std::move(written).error()));
}

void ClusterPapers::change_trust(TrustChange change, Then<TrustBook> then) {
  auto book = std::make_shared<TrustBook>();
  const auto editing = std::make_shared<Editing>();
  editing->name = trust_name();
  editing->key = k_trust_key;
  const std::string source = kube::to_text(kube::k_config_maps, editing->name);
  editing->edit = [book, source,
                   change = std::move(change)](const std::string& text) -> Result<std::string> {
    auto read = text.empty() ? Result<TrustBook>(TrustBook()) : trust_from_json(text, source);
    if (!read) return tl::unexpected(std::move(read).error());
    *book = *read;
    SPILLWAY_TRY(change(*book));
    return *book == *read ? text : to_json(*book);
  };
  editing->then = [book, then = std::move(then)](Result<std::string> text) {
    if (!text) return then(tl::unexpected(std::move(text).error()));
    then(*book);
  };
  edit(editing);
}

void ClusterPapers::find(const ContractId& id, Then<std::optional<Paper>> then) {
  api_.get(kube::k_config_maps, paper_name(id),
           life_.guard([id, then = std::move(then)](const Result<kube::Object>& found) {
             if (!found && found.error().code == Code::not_found) return then(std::nullopt);
             if (!found) return then(tl::unexpected(found.error()));
             auto paper = kept_paper(model::text_at(*found, {"data", k_paper_key}),
                                     source_of(kube::key_of(*found), k_paper_key), id);
             if (!paper) return then(tl::unexpected(std::move(paper).error()));
             then(std::optional(std::move(*paper)));
           }));
}

void ClusterPapers::keep(const Paper& heard, Then<Paper> then) {
  auto paper = std::make_shared<Paper>();
  const auto editing = std::make_shared<Editing>();
  editing->name = paper_name(heard.contract);
  editing->key = k_paper_key;
  editing->is_paper = true;
  const std::string source = source_of(editing->name, k_paper_key);
  editing->edit = [paper, source, heard, ended = &editing->is_ended,
                   damage = &editing->damage](const std::string& text) -> Result<std::string> {
    *paper = heard;
    damage->clear();
    if (!text.empty()) {
      const auto kept = kept_paper(text, source, heard.contract);
      if (!kept) *damage = kept.error().reason;
      auto both = kept ? merged(*kept, heard) : Result<Paper>(heard);
      if (!both) return tl::unexpected(std::move(both).error());
      *paper = std::move(*both);
      if (kept && *paper == *kept) return text;
    }
    *ended = paper->ended.has_value();
    return to_json(*paper);
  };
  editing->then = [paper, then = std::move(then)](Result<std::string> text) {
    if (!text) return then(tl::unexpected(std::move(text).error()));
    then(*paper);
  };
  edit(editing);
}

// Ids begin with their time, and so do the names: the first ones are the oldest.
void ClusterPapers::prune() {
  if (is_pruning_) {
    prune_again_ = true;  // what came meanwhile may not be on the list
    return;
  }
  is_pruning_ = true;
  // Those first that only one side has signed: holds cost nothing, and must not push out evidence.
  auto ended = std::make_shared<std::vector<std::pair<bool, std::string>>>();
  auto all = std::make_shared<size_t>(0);
  api_.list(
      kube::k_config_maps, {.space = space_, .labels = fmt::format("{}={}", k_label, name_)},
      [ended, all](kube::ListPage page) {
        if (page.is_first) {
          ended->clear();
          *all = 0;
        }
        *all += page.items.size();
        for (const kube::Object& paper : page.items) {
          if (is_ended(paper)) ended->emplace_back(is_complete(paper), kube::name_in(paper));
        }
      },
      life_.guard([this, ended, all](const Result<std::string>& listed) {
        is_pruning_ = false;
        if (listed && *all > k_most) {
          std::sort(ended->begin(), ended->end());
          ended->resize(std::min(ended->size(), *all - k_most));
          for (const auto& [complete, name] : *ended) {
            api_.remove(kube::k_config_maps, {space_, name}, {}, [](const Status&) {});
          }
        }
        if (std::exchange(prune_again_, false)) prune();
      }));
}

}  // namespace spillway::agent
