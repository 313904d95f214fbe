#include "services/agent/shared_identity.h"

#include <utility>

#include "services/agent/held_secret.h"

namespace spillway::agent {

void SharedIdentity::read(std::function<void(Result<Credentials>)> then) {
  api_.get(kube::k_secrets, secret_,
           life_.guard([thing = kube::to_text(kube::k_secrets, secret_),
                        then = std::move(then)](const Result<kube::Object>& found) {
             const bool is_missing = !found && found.error().code == Code::not_found;
             if (!found && !is_missing) return then(tl::unexpected(found.error()));
             const auto files = is_missing ? Result<HeldSecret::Data>(HeldSecret::Data())
                                           : secret_data(*found, thing);
             if (!files) return then(tl::unexpected(files.error()));
             if (has_joined(*files)) return then(credentials_in(*files, thing));
             then(fail(Code::unavailable, thing, "there is no identity in it yet",
                       "start the agent that keeps it, with --in-cluster and --join"));
           }));
}

void SharedIdentity::follow(Credentials known, std::function<void(const Credentials&)> renewed,
                            std::function<void(const Error&)> replaced) {
  known_ = std::move(known);
  renewed_ = std::move(renewed);
  replaced_ = std::move(replaced);
  look_later();
}

void SharedIdentity::look_later() {
  api_.loop().after(k_look, life_.guard([this] {
    read([this](const Result<Credentials>& seen) { on_read(seen); });
  }));
}

void SharedIdentity::on_read(const Result<Credentials>& seen) {
  if (!seen) {
    log_.write(services::Level::warning, "identity not to be read",
               {{"why", seen.error().message()}, {"good until", to_text(known_.not_after)}});
    return look_later();
  }
  if (seen->tls.key_pem != known_.tls.key_pem || seen->name != known_.name) {
    return replaced_({Code::conflict, kube::to_text(kube::k_secrets, secret_),
                      "its member has joined anew, with another key",
                      "start it again: it goes on with that"});
  }
  const bool is_new =
      seen->not_after != known_.not_after || seen->authorities_pem != known_.authorities_pem;
  if (is_new) {
    known_ = *seen;
    renewed_(known_);
  }
  look_later();
}

}  // namespace spillway::agent
