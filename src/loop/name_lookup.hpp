// Look-ups of host names. getaddrinfo blocks for as long as a name server is silent, and nothing
// stops it: so it runs on threads of its own, of which the process has a few. Equal look-ups are
// one; more than there are threads wait for one another.
//
// From any thread. The threads own nothing of those that ask: the process may end under them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loop/address.hpp"
#include "strata/base/result.hpp"

namespace strata::loop {

using found_addresses = result<std::vector<socket_address>>;

constexpr std::size_t most_lookup_threads = 16;

class name_lookup {
 public:
  /// Called on a look-up's thread, once, unless it was given up before. It must not ask again.
  using answer = std::function<void(const found_addresses&)>;

  name_lookup() = default;
  name_lookup(const name_lookup&) = delete;
  name_lookup& operator=(const name_lookup&) = delete;
  /// Gives it up. An answer that is on its way is waited for.
  ~name_lookup();

  /// Looks `host` up; the addresses have port 0. Once. Errors: no thread can be made, and none is
  /// there that could do it later.
  [[nodiscard]] result<void> start(const std::string& host, answer told);

 private:
  friend class name_lookups;
  std::string host_;
  answer told_;
};

}  // namespace strata::loop
