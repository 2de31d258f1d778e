// Where a proxy passes connections on to, and which one is next.
//
// For one loop's thread: each loop of a proxy chooses by what it has seen itself.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "net/endpoint_url.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::proxy {

/// One `--backend`, as it was written.
struct back_text {
  std::string text;
  net::endpoint_url url;
  std::uint64_t weight = 1;
  bool is_backup = false;
};

/// `HOST:PORT`, a URL or a runtime's name; behind blanks `weight=N` and `backup`. Errors:
/// invalid_argument, naming the text and what is wrong with it.
[[nodiscard]] result<back_text> parse_back(const std::string& text);

/// A back, and how it has fared. It lives as long as a connection to it does.
struct back {
  explicit back(back_text of) : is(std::move(of)) {}

  back_text is;
  std::uint64_t connections = 0;
  std::int64_t turn = 0;  // for round-robin
  loop::time_point rests_until;
};

/// A connection to a back, from the moment at which the back was chosen for it.
class back_use {
 public:
  explicit back_use(std::shared_ptr<back> of) : of_(std::move(of)) { ++of_->connections; }
  back_use(back_use&& other) noexcept = default;
  back_use& operator=(back_use&& other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  back_use(const back_use&) = delete;
  back_use& operator=(const back_use&) = delete;
  ~back_use() {
    if (of_) --of_->connections;
  }

 private:
  std::shared_ptr<back> of_;
};

enum class balance : std::uint8_t { round_robin, random, least, first, source };
[[nodiscard]] balance balance_of(std::string_view text);

class backs {
 public:
  using back_ref = std::shared_ptr<back>;

  /// From now on these; one that stays keeps what is known of it. The texts parse.
  void become(const std::vector<std::string>& texts);

  /// The next one for a client at `source`, of those that are not `tried`: one that need not rest,
  /// if there is one, and a backup only when no other is left. Null: all were tried.
  [[nodiscard]] back_ref choose(balance how, const loop::socket_address& source,
                                std::span<const back_ref> tried, loop::time_point now);

 private:
  [[nodiscard]] back_ref choose_of(balance how, const loop::socket_address& source,
                                   const std::vector<back_ref>& of);

  std::vector<back_ref> all_;
};

}  // namespace strata::runtime::proxy
