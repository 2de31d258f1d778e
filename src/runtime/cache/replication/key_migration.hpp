// MIGRATE: moves keys to another server. It sends their values as DUMP writes them, and removes the
// keys that the other server has accepted. Meanwhile, commands that may change them wait.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/tls/slot.hpp"
#include "redis/connection.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/replication.hpp"

namespace strata::runtime::cache {

class key_migration {
 public:
  struct hooks {
    std::function<void()> begin_work;
    std::function<void()> end_work;
  };

  /// Connects by TLS if `secure` has a context. All must outlive it.
  key_migration(loop::loop& loop, engine& engine, std::shared_ptr<const net::tls_slot> secure,
                hooks hooks)
      : loop_(loop), engine_(engine), secure_(std::move(secure)), hooks_(std::move(hooks)) {}

  /// `client` waits, and gets the reply.
  void begin(client& client, migration_request request);
  /// Stops all migrations; the keys that are not yet removed stay.
  void cancel() { running_.cancel(); }

 private:
  struct value {
    std::string key;
    std::string ttl_ms;
    std::string payload;
  };
  // What has come of it: the error, empty if there is none, and the keys that were accepted.
  struct outcome {
    std::string error;
    std::vector<std::string> accepted;
  };

  loop::task<> run(std::uint64_t client, unsigned database, migration_request request,
                   std::vector<value> values);
  loop::task<outcome> transfer(const migration_request& request, const std::vector<value>& values);
  loop::task<std::string> prepare(redis::connection& connection, const migration_request& request);
  loop::task<result<proto::resp_value>> receive(redis::connection& connection,
                                                loop::duration timeout);
  void remove(unsigned database, const std::vector<std::string>& keys);

  loop::loop& loop_;
  engine& engine_;
  std::shared_ptr<const net::tls_slot> secure_;
  hooks hooks_;
  loop::task_group running_;
};

}  // namespace strata::runtime::cache
