#include "fabric/liqo/guests.h"

#include "fabric/liqo/part_fields.h"

namespace spillway::fabric::liqo {
namespace {

constexpr Word<Enforcement> k_enforcements[] = {
    {Enforcement::none, "None"}, {Enforcement::soft, "Soft"}, {Enforcement::hard, "Hard"}};

}  // namespace

template <class Fields>
void fields(Fields& f, Quota& q) {
  f.part("metadata", q.meta);
  f.needed("spec.user");
  f.text("spec.user", q.user);
  f.amounts("spec.resources", q.amounts);
  f.word("spec.limitsEnforcement", q.limits, k_enforcements);
  f.flag("spec.cordoned", q.cordoned);
}

Result<Quota> read_quota(const model::Node& object) { return read_object<Quota>(object); }
model::Node to_object(const Quota& quota) { return write_object(quota); }

}  // namespace spillway::fabric::liqo
