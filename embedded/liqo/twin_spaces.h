// TwinSpaces: the namespaces that a buyer's map asks for at its provider, with the rights of that
// buyer's units in them. They go with their entry, and all of them with the map.
#pragma once

#include "embedded/liqo/controller.h"
#include "fabric/liqo/namespaces.h"

namespace spillway::embedded::liqo {

class TwinSpaces final : public Controller {
 public:
  explicit TwinSpaces(const Setting& setting);

 private:
  void look_at(const Key& key) override;
  void make(const Key& map, const std::string& name, const std::string& twin) const;
  void write_status(const Key& key, const codec::NamespaceMap& map) const;
  std::vector<ObjectPtr> spaces_of(const Key& map) const;
};

}  // namespace spillway::embedded::liqo
