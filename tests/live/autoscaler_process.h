// `spillway autoscaler` as a process of its own, with mutual TLS, and who may call it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "cluster_autoscaler/cloud_client.h"
#include "net/grpc_client.h"
#include "net/poll.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"

namespace spillway::test {

class AutoscalerProcess {
 public:
  // `identity`: the folder of a member that buys; `more`: further flags.
  AutoscalerProcess(std::string identity, std::string kubeconfig,
                    std::vector<std::string> more = {});
  ~AutoscalerProcess();
  AutoscalerProcess(const AutoscalerProcess&) = delete;
  AutoscalerProcess& operator=(const AutoscalerProcess&) = delete;

  void start();  // and waits until it says that it has; the port is another one each time
  void kill();   // as kill -9
  int end();     // by SIGTERM; its exit code
  pid_t pid() const { return pid_; }
  uint16_t port() const { return port_; }
  double cpu_seconds() const;
  std::string log() const;                   // all that it said since it was started
  bool says(const std::string& what) const;  // in its log, sooner or later
  std::string flags() const;                 // that it is started with, for a shell

  // As the Cluster Autoscaler calls, with a certificate of its own.
  net::GrpcClientOptions client_options() const;
  // As its expander does, which shows none; it must have been given a port for that.
  net::GrpcClientOptions expander_options() const;
  // The same for a program: --target and what goes with it.
  std::string client_flags() const;

 private:
  uint16_t port_called(const std::string& name) const;

  TemporaryFolder folder_;
  TestAuthority authority_{"of the connection"};
  CertificateAndKey client_;
  std::vector<std::string> words_;
  pid_t pid_ = -1;
  uint16_t port_ = 0;
};

// One connection that is called in a straight line, by the thread that calls.
class StraightCalls {
 public:
  explicit StraightCalls(net::GrpcClientOptions options)
      : client_(std::make_unique<net::GrpcClient>(poll_, std::move(options))) {}

  net::GrpcAnswer call(const std::string& method, std::string_view message);
  cluster_autoscaler::CloudClient cloud();  // asks by this; must not outlive it

 private:
  net::Poll poll_;
  std::unique_ptr<net::GrpcClient> client_;
};

// Asks again and again, with a refresh in between, until it is so; false: not within 30 s.
bool comes_to(cluster_autoscaler::CloudClient& cloud, const std::function<bool()>& is_so);

}  // namespace spillway::test
