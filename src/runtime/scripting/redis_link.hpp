// A connection to a Redis server, or a cache: after the greeting, and in the selected database.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/connector.hpp"
#include "proto/resp/resp_value.hpp"
#include "runtime/options/script_rights.hpp"
#include "runtime/scripting/redis_place.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

struct redis_wishes {
  redis_place where = {};
  loop::duration timeout = {};  ///< for an answer, and for connecting
  net::tls_client_settings tls = {};
};

/// Reads them from a script's arguments: the place, and a table of options. Nullopt if the call has
/// failed.
[[nodiscard]] std::optional<redis_wishes> read_redis_wishes(const script_rights& rights,
                                                            script::call& call, int which_place,
                                                            int which_options);

class redis_link {
 public:
  /// `wishes` outlives this object.
  redis_link(loop::loop& loop, net::directory* names, const redis_wishes& wishes);

  /// Connects, within the timeout. Call it once. Errors: name the place, without its password.
  [[nodiscard]] loop::task<result<void>> open();
  void push(std::string_view request) { stream_->push_copy(as_bytes(request)); }
  [[nodiscard]] std::size_t unsent() const { return stream_->unsent(); }
  /// Waits for the next value, pushes included. Errors: connection_closed, and data that is not
  /// RESP.
  [[nodiscard]] loop::task<result<proto::resp_value>> receive();

 private:
  [[nodiscard]] loop::task<result<void>> connect();
  [[nodiscard]] loop::task<result<void>> greet();
  [[nodiscard]] loop::task<result<proto::resp_value>> ask(
      std::initializer_list<std::string_view> words);

  loop::loop& loop_;
  net::directory* names_;
  const redis_wishes& how_;
  std::unique_ptr<net::stream> stream_;
  proto::value_reader reader_;
};

}  // namespace strata::runtime::scripting
