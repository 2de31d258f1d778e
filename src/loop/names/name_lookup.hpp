// Lookups of host names. getaddrinfo blocks for as long as a name server is silent, and cannot be
// interrupted: so it runs on a few threads of its own. Equal lookups share one call; further
// lookups wait for a free thread.
//
// From any thread. The threads own nothing of the callers: the process may end while they run.
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
  /// Called once on a lookup's thread, unless the lookup was given up before. It must not start
  /// another lookup.
  using answer = std::function<void(const found_host&)>;
  /// `with_lifetime` queries the name server once more if the name has addresses.
  enum class depth : bool { addresses, with_lifetime };

  name_lookup() = default;
  name_lookup(const name_lookup&) = delete;
  name_lookup& operator=(const name_lookup&) = delete;
  /// Gives the lookup up. Waits for an answer that is being delivered.
  ~name_lookup();

  /// Looks up `host`; the addresses have port 0. Call it once. Errors: no thread can be created,
  /// and no existing thread could do the lookup later.
  [[nodiscard]] result<void> start(const std::string& host, depth how_deep, answer answer);

 private:
  friend class name_lookups;
  using question = std::pair<std::string, depth>;
  question asked_;
  answer answer_;
};

}  // namespace strata::loop
