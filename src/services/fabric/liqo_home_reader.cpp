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
      backoff_.reset();
      read_after(k_look_again);
      return take(std::move(*home));
    }
    if (backoff_.failures() == 0) {
      log_.write(services::Level::warning, "Liqo is not known", {{"why", home.error().message()}});
    }
    is_waiting_ = true;
    read_after(backoff_.next(random_));
  }));
}

void LiqoHomeReader::read_after(Duration wait) {
  api_.loop().after(wait, life_.guard([this, turn = turn_] {
    if (turn == turn_) read();
  }));
}

void LiqoHomeReader::take(LiqoHome home) {
  const bool is_same =
      home_ && home_->id() == home.id() && home_->public_key() == home.public_key();
  if (is_same) return;
  log_.write(services::Level::info, home_ ? "Liqo is another" : "Liqo is known",
             {{"id", home.id()}});
  home_ = std::move(home);
  known_(*home_);
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
