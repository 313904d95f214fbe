// Offloadings: which namespaces of this cluster have a twin at which provider: a namespace's own
// wish becomes an entry in the map of every provider that it selects.
#pragma once

#include "embedded/liqo/controller.h"
#include "fabric/liqo/namespaces.h"

namespace spillway::embedded::liqo {

class Offloadings final : public Controller {
 public:
  explicit Offloadings(const Setting& setting);

 private:
  void look_at(const Key& key) override;
  void look_at_all();
  bool selects(const model::Node& document, const std::string& provider) const;
  void settle_entry(const Object& map, const std::string& space, const std::string& twin) const;
  void write_status(const Key& key, const std::string& twin) const;
  bool is_mapped(const std::string& space) const;
};

}  // namespace spillway::embedded::liqo
