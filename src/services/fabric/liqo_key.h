// LiqoKey: what is made with the key that a cluster is known by in Liqo (Secret
// authentication-keys). It is read from the API server when it is needed, and wiped after use.
#pragma once

#include "host/lifeline.h"
#include "kube/api.h"
#include "pki/key.h"
#include "services/fabric/liqo_self.h"

namespace spillway::agent {

class LiqoKey final : public LiqoSelf {
 public:
  // `id`: of this cluster in Liqo; `space`: where Liqo lives.
  LiqoKey(kube::Api& api, std::string id, std::string public_key, std::string space);

  std::string id() const override { return id_; }
  std::string public_key() const override { return public_key_; }
  void request_control_plane(Then<std::string> then) override;
  void request_units(const std::vector<std::string>& units, Then<Requests> then) override;
  void sign_nonce(const std::string& nonce, Then<std::string> then) override;

 private:
  void use(std::function<void(Result<pki::Key>)> then);

  kube::Api& api_;
  std::string id_;
  std::string public_key_;
  std::string space_;
  host::Lifeline life_;
};

// The key in that Secret, whose text is wiped.
Result<pki::Key> liqo_key_in(kube::Object secret);

// The public key that an agreement names (LiqoPart::buyer_key): base64 of its PEM, or of its 32
// bytes as Liqo before 1.0.2 has it.
Result<pki::PublicKey> read_liqo_key(std::string_view text);

}  // namespace spillway::agent
