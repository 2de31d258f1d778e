// Look-ups of host names. getaddrinfo blocks for as long as a name server is silent, and nothing
// stops it: so it runs on threads of its own, of which the process has a few. Equal look-ups are
// one; more than there are threads wait for one another.
//
// From any thread. The threads own nothing of those that ask: the process may end under them.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "loop/names/host_records.hpp"
#include "strata/base/result.hpp"

namespace strata::loop {

using found_host = result<host_records>;

constexpr std::size_t most_lookup_threads = 16;

class name_lookup {
 public:
  /// Called on a look-up's thread, once, unless it was given up before. It must not ask again.
  using answer = std::function<void(const found_host&)>;
  /// `with_lifetime` asks the name server once more, of a name that has addresses.
  enum class depth : bool { addresses, with_lifetime };

  name_lookup() = default;
  name_lookup(const name_lookup&) = delete;
  name_lookup& operator=(const name_lookup&) = delete;
  /// Gives it up. An answer that is on its way is waited for.
  ~name_lookup();

  /// Looks `host` up; the addresses have port 0. Once. Errors: no thread can be made, and none is
  /// there that could do it later.
  [[nodiscard]] result<void> start(const std::string& host, depth how_deep, answer answer);

 private:
  friend class name_lookups;
  using question = std::pair<std::string, depth>;
  question asked_;
  answer told_;
};

}  // namespace strata::loop
