// TokenSource: where the bearer token of a request comes from. Tokens live shortly (an hour in a
// pod, minutes from a plugin), so a source is asked before every request and keeps what it may.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "host/loop.h"

namespace spillway::kube {

class TokenSource {
 public:
  using Then = std::function<void(Result<std::string>)>;
  virtual ~TokenSource() = default;
  virtual void get(Then then) = 0;  // may call back at once
  // The server would not have the last one: look for another before giving it again.
  virtual void forget() = 0;
};

class FixedToken final : public TokenSource {
 public:
  explicit FixedToken(std::string token) : token_(std::move(token)) {}
  void get(Then then) override { then(token_); }
  void forget() override {}

 private:
  std::string token_;
};

// A file that somebody else replaces: a pod's own token, or a kubeconfig's tokenFile.
class FileToken final : public TokenSource {
 public:
  static constexpr Duration k_keep = seconds(10);  // a read costs little, a stale token an outage

  FileToken(host::Loop& loop, std::string path) : loop_(loop), path_(std::move(path)) {}
  void get(Then then) override;
  void forget() override { token_.clear(); }

 private:
  host::Loop& loop_;
  std::string path_;
  std::string token_;
  Instant read_at_;
};

}  // namespace spillway::kube
