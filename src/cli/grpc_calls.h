// Calls to a gRPC server in a straight line, as the Cluster Autoscaler would make them.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "cli/word.h"
#include "net/grpc_client.h"
#include "net/poll.h"

namespace spillway::cli {

struct GrpcTarget {
  std::string target;  // host:port
  std::string authorities;
  std::string certificate;
  std::string key;
  bool plaintext = false;
};

// --target, --ca, --cert, --key and --plaintext. `target` outlives the command line.
void add_grpc_target(Word verb, GrpcTarget& target);
Result<net::GrpcClientOptions> read_grpc_target(const GrpcTarget& target);

// The connection lives on a thread of its own.
class StraightCalls {
 public:
  explicit StraightCalls(net::GrpcClientOptions options);
  ~StraightCalls();
  StraightCalls(const StraightCalls&) = delete;
  StraightCalls& operator=(const StraightCalls&) = delete;

  net::GrpcAnswer call(const std::string& method, std::string message);

 private:
  net::Poll poll_;
  std::unique_ptr<net::GrpcClient> client_;
  std::thread thread_;
};

}  // namespace spillway::cli
