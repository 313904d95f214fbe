#include "fabric/record.h"

#include "fabric/liqo/reader.h"
#include "model/tree.h"

namespace spillway::fabric {
namespace {

Place place_of(const std::string& space) {
  return {liqo::k_config_maps, space, std::string(k_record_name)};
}

}  // namespace

Result<Record> read_record(const model::Node& object) {
  liqo::Reader reader(object, liqo::k_config_maps);
  Record record;
  reader.text("metadata.resourceVersion", record.version);
  reader.texts("data", record.units, k_most_recorded);
  SPILLWAY_TRY(reader.status());
  return record;
}

Create create_record(const std::string& space, const liqo::Texts& units) {
  model::Node object = model::object_node();
  model::put(object, "apiVersion", model::text_node("v1"));
  model::put(object, "kind", model::text_node("ConfigMap"));
  model::Node& meta = model::ensure(object, {"metadata"});
  model::put(meta, "name", model::text_node(k_record_name));
  model::put(meta, "namespace", model::text_node(space));
  model::Node& data = model::ensure(object, {"data"});
  for (const auto& [name, request] : units) model::put(data, name, model::text_node(request));
  return {place_of(space), std::move(object)};
}

Merge change_record(const std::string& space, const liqo::Texts& add,
                    const std::vector<std::string>& remove) {
  model::Node patch = model::object_node();
  model::Node& data = model::ensure(patch, {"data"});
  for (const auto& [name, request] : add) model::put(data, name, model::text_node(request));
  for (const std::string& name : remove) model::put(data, name, model::Node{});
  return {place_of(space), std::move(patch)};
}

}  // namespace spillway::fabric
