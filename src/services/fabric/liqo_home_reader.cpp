#include "services/fabric/liqo_home_reader.h"

namespace spillway::agent {

LiqoHomeReader::LiqoHomeReader(kube::Api& api, host::Random& random, services::Log& log,
                               std::function<void(const LiqoHome&)> known)
    : api_(api), random_(random), log_(log), known_(std::move(known)), back_(api.when_back([this] {
        if (is_waiting_) read();
      })) {}

void LiqoHomeReader::read() {
  is_waiting_ = false;
  ++turn_;
  read_liqo_home(api_, life_.guard([this](Result<LiqoHome> home) {
    if (home) {
      log_.write(services::Level::info, "Liqo is known", {{"id", home->id()}});
      home_ = std::move(*home);
      return known_(*home_);
    }
    if (backoff_.failures() == 0) {
      log_.write(services::Level::warning, "Liqo is not known", {{"why", home.error().message()}});
    }
    is_waiting_ = true;
    api_.loop().after(backoff_.next(random_), life_.guard([this, turn = turn_] {
      if (turn == turn_) read();
    }));
  }));
}

Signing::FabricOf LiqoHomeReader::fabric_of() {
  return [this](const model::Contract& contract,
                const model::Card& provider) -> Result<model::Fabric> {
    if (home_) return home_->part_of(contract, provider);
    return fail(Code::unavailable, "contract " + contract.id.text,
                "this cluster's Liqo is not known yet", "look at the log if this lasts");
  };
}

}  // namespace spillway::agent
