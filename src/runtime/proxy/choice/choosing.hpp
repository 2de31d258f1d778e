// Chooses the next of a proxy's backends. Changes only the backends, and never waits.
//
// For one loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loop/names/address.hpp"
#include "loop/task.hpp"
#include "loop/timer.hpp"
#include "runtime/proxy/choice/backend.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::proxy {

using backend_ref = std::shared_ptr<backend>;

enum class balance : std::uint8_t {
  round_robin,
  random,
  least,
  first,
  source,
  header,
  cookie,
  path
};

/// A balance option, parsed.
struct balancing {
  balance how = balance::round_robin;
  std::string name;  ///< of the header, in lower case, or of the cookie
};
/// Parses a balance. Errors: invalid_argument, naming the text.
[[nodiscard]] result<balancing> parse_balance(const std::string& text);
/// Whether it depends on properties of an HTTP request.
[[nodiscard]] bool is_of_requests(balance balance);

/// The criteria for choosing a backend.
struct wish {
  balance how = balance::round_robin;
  std::uint64_t key = 0;                      ///< the hash key, for a balance that hashes
  std::span<const std::uint64_t> marks = {};  ///< of backends that the client has used before
  std::span<const backend_ref> tried = {};
  loop::time_point now = {};
  std::uint64_t panic = 0;  ///< minimum percentage of ready weight; below it all are used
  std::function<loop::task<>()> client_left = {};  ///< waits until the client has gone
  loop::duration slow_start = {};  ///< time until a new backend has its full weight; 0: at once
};

/// A backend's present weight, in hundredths. A backend that was added while the proxy ran starts
/// with a tenth.
[[nodiscard]] std::uint64_t weight_of(const backend& one, const wish& wish);

/// The key for one client's address.
[[nodiscard]] std::uint64_t key_of(const loop::socket_address& source);
[[nodiscard]] std::uint64_t key_of(std::string_view text);

/// The backends to choose the next one from.
struct candidates {
  std::vector<backend_ref> of;
  bool is_panic = false;  ///< unhealthy ones are included
  bool are_full = false;  ///< there are none, but some are only full
};

/// Returns the backend that has a mark of the wish, if it is up: then no other. Otherwise those
/// that are up and need not rest, if there are any, and otherwise the rest; in each case backups
/// only if there are no others. None of them is full or has been tried.
[[nodiscard]] candidates candidates_of(std::span<const backend_ref> all, const wish& wish);

/// The next backend, by the wish's balance. `backends` is not empty.
[[nodiscard]] backend_ref choose(const std::vector<backend_ref>& backends, const wish& wish);

}  // namespace strata::runtime::proxy
