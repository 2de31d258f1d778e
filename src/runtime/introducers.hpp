// Which peers' connections begin with a PROXY header: `--proxy-protocol`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "loop/names/network.hpp"
#include "net/stream.hpp"

namespace strata::runtime {

class introducers {
 public:
  /// Parses networks, or `unix`. Errors: invalid_argument, naming the text that is neither.
  [[nodiscard]] static result<introducers> parse(const std::vector<std::string>& texts);

  [[nodiscard]] bool has(const net::stream& arrived) const;

 private:
  std::vector<loop::network> networks_;
  bool has_unix_ = false;
};

/// For a `acceptor_settings`; null: no connection begins with one. The texts parse.
[[nodiscard]] std::function<bool(const net::stream&)> introducing(
    const std::vector<std::string>& texts);

}  // namespace strata::runtime
