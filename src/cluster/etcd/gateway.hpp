// etcd's JSON gateway: the calls of its version 3 API as POST requests with JSON bodies
// (https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "strata/base/result.hpp"

namespace strata::cluster {

/// The answers of a call that has many. Destroying it ends the call.
class gateway_stream {
 public:
  gateway_stream() = default;
  gateway_stream(const gateway_stream&) = delete;
  gateway_stream& operator=(const gateway_stream&) = delete;
  virtual ~gateway_stream() = default;

  /// Waits for the next answer. Errors: timed_out at `limit`, after which it may be called again;
  /// the stream has ended or is broken.
  virtual loop::task<result<nlohmann::json>> next(loop::time_point limit) = 0;
};

class gateway {
 public:
  gateway() = default;
  gateway(const gateway&) = delete;
  gateway& operator=(const gateway&) = delete;
  virtual ~gateway() = default;

  /// Makes a call, such as `/v3/kv/put`, and returns its answer. Errors: those of the way; the
  /// error that etcd reports.
  virtual loop::task<result<nlohmann::json>> call(std::string path, nlohmann::json body) = 0;
  /// Makes a call that has many answers. Errors: as of `call`.
  virtual loop::task<result<std::unique_ptr<gateway_stream>>> open(std::string path,
                                                                   nlohmann::json body) = 0;
};

}  // namespace strata::cluster
