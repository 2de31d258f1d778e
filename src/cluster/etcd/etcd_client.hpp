// The JSON gateway of a real etcd, over HTTP/1.1.
//
// For one loop's thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cluster/etcd/gateway.hpp"
#include "http/client/http1_client.hpp"
#include "loop/async_lock.hpp"
#include "net/endpoint_url.hpp"
#include "net/tls/context.hpp"

namespace strata::cluster {

class etcd_client final : public gateway {
 public:
  struct settings {
    std::vector<net::endpoint_url> members;  ///< http:// or https://, at least one
    std::string user = {};                   ///< empty: etcd asks for none
    std::string password = {};
    std::shared_ptr<const net::tls_context> tls = nullptr;  ///< null: the system's authorities
    loop::duration timeout;  ///< of a connection, and again of an answer to its last byte
  };

  etcd_client(loop::loop& loop, settings settings);

  /// Tries the members in turn, from the last one that answered. One call at a time; others wait.
  loop::task<result<nlohmann::json>> call(std::string path, nlohmann::json body) override;
  loop::task<result<std::unique_ptr<gateway_stream>>> open(std::string path,
                                                           nlohmann::json body) override;

 private:
  struct link {
    net::endpoint_url member;
    std::unique_ptr<http::http1_client> http;
    loop::time_point limit = {};  ///< of the present answer, to its last byte
  };

  loop::task<result<link>> connect();
  /// Returns the connection on which the answer's body follows.
  loop::task<result<link>> ask(const std::string& path, const std::string& body);
  loop::task<result<nlohmann::json>> exchange(const std::string& path, const nlohmann::json& body);
  loop::task<result<void>> log_in();
  /// Waits for the head of the answer.
  loop::task<result<void>> send(link& link, const std::string& path, const std::string& body);
  /// The next connection is to another member.
  void leave_member() { present_ = (present_ + 1) % settings_.members.size(); }

  loop::loop& loop_;
  settings settings_;
  std::size_t present_ = 0;  // the member that answered last
  link idle_;                // a connection that is free; none at first
  std::string token_;        // of the user; empty: none yet
  loop::async_lock turn_;
};

}  // namespace strata::cluster
