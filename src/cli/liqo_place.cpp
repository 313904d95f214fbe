#include "cli/liqo_place.h"

#include <optional>
#include <utility>

#include "cli/ask_cluster.h"
#include "services/fabric/liqo_home.h"

namespace spillway::cli {

void add_liqo_place(Word verb, LiqoPlace& place) {
  verb.option("--fabric", place.fabric,
              "Make nodes of it by this: sign what this cluster will ask the provider for")
      .one_of({"liqo"});
  verb.option("--kubeconfig", place.kubeconfig,
              "With --fabric: the cluster that gets the nodes (default: the one that this runs in)")
      .type_name("FILE");
  verb.option("--context", place.context, "With --fabric: of the kubeconfig (its current one)");
}

Result<agent::Signing::FabricOf> fabric_of(const LiqoPlace& place) {
  if (place.fabric.empty()) {
    if (place.kubeconfig.empty() && place.context.empty()) return agent::Signing::FabricOf();
    return fail(Code::invalid, place.kubeconfig.empty() ? "--context" : "--kubeconfig",
                "without --fabric no cluster is asked", "leave it out, or add --fabric liqo");
  }
  std::optional<agent::LiqoHome> home;
  SPILLWAY_TRY(
      ask_cluster(place.kubeconfig, place.context, [&home](kube::Api& api, kube::Then<void> done) {
        agent::read_liqo_home(api, [&home, done = std::move(done)](Result<agent::LiqoHome> read) {
          if (!read) return done(tl::unexpected(std::move(read).error()));
          home = std::move(*read);
          done({});
        });
      }));
  return agent::Signing::FabricOf(
      [home = *home](const model::Contract& contract, const model::Card& provider) {
        return home.part_of(contract, provider);
      });
}

}  // namespace spillway::cli
