// HeldSecret: a Secret of the cluster that this process writes alone, for as long as it holds the
// Lease that guards it.
//
// claim() reads it and writes our mark into it. From then on a write of a former holder, even one
// that has been on its way since before, is refused by the API server, for it names an older
// version. Our own writes name the version that we know. When one is refused, or its answer is
// lost, the Secret is read again: if it carries our mark and what we wrote, we go on (others may
// change labels); if not, somebody else has written, and nothing is written by us any more.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "host/lifeline.h"
#include "kube/api.h"

namespace spillway::agent {

class HeldSecret {
 public:
  using Data = std::map<std::string, std::string>;  // as it is, not as base64
  // The API server takes no more in all values together.
  static constexpr size_t k_most_bytes = size_t{1} << 20;
  static constexpr const char* k_mark = "spillway.dev/held-by";  // annotation

  // `lost` is called once, when somebody else has written.
  HeldSecret(kube::Api& api, kube::Name name, std::string holder,
             std::function<void(const Error&)> lost);

  // Made when it is not there. Call it once, before anything else.
  void claim(std::function<void(Status)> then);
  const Data& data() const { return data_; }
  // Calls when it is in the cluster's store, or failed. One at a time. unavailable: it may have
  // been done or not; the next write finds out.
  void write(Data data, std::function<void(Status)> then);

  const kube::Name& name() const { return name_; }
  std::string text() const { return kube::to_text(kube::k_secrets, name_); }

 private:
  using Done = std::function<void(Status)>;
  void create(Done then);
  void mark(kube::Object found, int tries, Done then);
  void put(int tries, Done then);
  void settle(Done then);
  void take(kube::Object written);
  Status give_up();
  kube::Object wanted() const;

  kube::Api& api_;
  kube::Name name_;
  std::string holder_;
  std::function<void(const Error&)> lost_;
  kube::Object object_;        // as last seen
  Data data_;                  // known to be there
  Data next_;                  // being written
  std::optional<Data> tried_;  // before it, and nobody knows whether it is still on its way
  bool is_unsure_ = false;     // whether next_ is there
  bool is_lost_ = false;
  host::Lifeline life_;
};

// What a Secret has in it, for those who only read.
Result<HeldSecret::Data> secret_data(const kube::Object& object, const std::string& thing);

}  // namespace spillway::agent
