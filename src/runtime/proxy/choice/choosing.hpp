// Which of a proxy's backends is next. Nothing but the backends is changed, and nothing is awaited.
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

/// A balance as the option has it.
struct balancing {
  balance how = balance::round_robin;
  std::string name;  ///< of the header, in lower case, or of the cookie
};
/// Errors: invalid_argument, naming the text.
[[nodiscard]] result<balancing> parse_balance(const std::string& text);
/// It goes by what only an HTTP request has.
[[nodiscard]] bool is_of_requests(balance balance);

/// What is asked of the backends.
struct wish {
  balance how = balance::round_robin;
  std::uint64_t key = 0;                      ///< what is hashed, of a balance that hashes
  std::span<const std::uint64_t> marks = {};  ///< of a backend that the client has been to
  std::span<const backend_ref> tried = {};
  loop::time_point now = {};
  std::uint64_t panic = 0;  ///< percent of the weight that is ready at least; else all are taken
  std::function<loop::task<>()> client_left = {};  ///< awaits that nobody wants it any more
  loop::duration slow_start = {};  ///< until a backend that came has its whole weight; 0: at once
};

/// A backend's weight now, in hundredths. One that came while the proxy ran has a tenth at first.
[[nodiscard]] std::uint64_t weight_of(const backend& one, const wish& wish);

/// One client's address, as a key.
[[nodiscard]] std::uint64_t key_of(const loop::socket_address& source);
[[nodiscard]] std::uint64_t key_of(std::string_view text);

/// Those that the next may be of.
struct candidates {
  std::vector<backend_ref> of;
  bool is_panic = false;  ///< those that are ill are among them
  bool are_full = false;  ///< there are none, but some would be, were they not full
};

/// One that has a mark of the wish, where that is up: no other then. Else those that are up and
/// need not rest, if there are any, and else the others; of each first those that are no backups.
/// None of them is full or has been tried.
[[nodiscard]] candidates candidates_of(std::span<const backend_ref> all, const wish& wish);

/// The next one, by the wish's balance. `backends` is not empty.
[[nodiscard]] backend_ref choose(const std::vector<backend_ref>& backends, const wish& wish);

}  // namespace strata::runtime::proxy
