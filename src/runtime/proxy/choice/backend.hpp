// A place that a proxy passes connections on to.
//
// For one loop's thread. How a backend stands all loops of a proxy know together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "loop/loop.hpp"
#include "net/endpoint_url.hpp"
#include "net/stream.hpp"
#include "runtime/proxy/choice/figures.hpp"
#include "runtime/proxy/choice/standing.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::proxy {

/// One `--backend`, as it was written.
struct backend_text {
  std::string text;
  net::endpoint_url url;
  /// Of one of a host's addresses, which the URL does not say.
  std::optional<loop::socket_address> at = std::nullopt;
  bool is_group = false;  ///< the URL's name is one of runtimes that are a backend each
  std::uint64_t weight = 1;
  std::uint64_t max = 0;  ///< connections or requests at a time; 0: any number
  bool is_backup = false;
  bool is_drained = false;  ///< takes nothing new
  bool speaks_http2 = false;
  int proxy_version = 0;  ///< of the PROXY header that connections to it begin with; 0: none

  /// As a URL: with the address, where that is one of several.
  [[nodiscard]] std::string where() const;
  /// It leads to what a name stands for at the time: a group, or a host that is not this one.
  [[nodiscard]] bool is_followed() const;
  /// Connections to the one are as good as those to the other.
  [[nodiscard]] bool is_spoken_to_as(const backend_text& other) const {
    return url == other.url && at == other.at && speaks_http2 == other.speaks_http2 &&
           proxy_version == other.proxy_version;
  }
};

/// `HOST:PORT`, a URL, a runtime's name or `@GROUP`; behind blanks `weight=N`, `max=N`, `backup`,
/// `drain`, `http2`, `proxy=v1` and `proxy=v2`. Errors: invalid_argument, naming the text and the
/// mistake.
[[nodiscard]] result<backend_text> parse_backend(const std::string& text);

[[nodiscard]] std::uint64_t mark_of(const backend_text& text);
/// Where such a text leads, without what is said of the backend.
[[nodiscard]] std::string_view place_of(std::string_view text);

/// Of the loop that checks it.
struct backend_checks {
  bool is_asked = false;      ///< one is under way
  std::uint64_t against = 0;  ///< in a row, that said the contrary of what is known
};

/// A backend, and how it has fared. It lives as long as a connection to it does.
struct backend {
  explicit backend(backend_text text,
                   std::shared_ptr<standing> shared = std::make_shared<standing>())
      : is(std::move(text)), stands(std::move(shared)) {}

  /// What a connection to it begins with, made for `client`. Null: made for the proxy itself.
  [[nodiscard]] std::string preface_for(const net::peer_info* client) const;
  /// HTTP/2 is spoken on that connection to it: as it was agreed on with TLS, or else as it was
  /// written.
  [[nodiscard]] bool takes_http2(const net::stream& stream) const;

  backend_text is;
  std::uint64_t mark = mark_of(is);  ///< what it is known by: of its place, and nothing shows that
  std::shared_ptr<standing> stands;
  std::uint64_t chosen = 0;  ///< how often it was, ever, by this loop
  std::uint64_t failed = 0;  ///< how often it could not be reached, or broke off
  std::int64_t turn = 0;     // for round-robin
  backend_checks checks;
  std::shared_ptr<branch_figures> counted = std::make_shared<branch_figures>();
  std::function<void()> on_left;  ///< told when a connection or request leaves it
  /// Told how a connection or request has gone.
  std::function<void(backend&, const circuit::attempt&, bool is_good)> on_outcome;

  [[nodiscard]] std::uint64_t connections() const {
    return stands->connections.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_full() const { return is.max != 0 && connections() >= is.max; }
};

/// A connection or a request of a backend, from the moment at which the backend was chosen for it.
class backend_use {
 public:
  /// Nullopt: all its places are taken.
  [[nodiscard]] static std::optional<backend_use> begin(std::shared_ptr<backend> backend,
                                                        loop::time_point now) {
    if (!backend->stands->enter(backend->is.max)) return std::nullopt;
    return backend_use(std::move(backend), now);
  }
  backend_use(backend_use&& other) noexcept = default;
  backend_use& operator=(backend_use&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(attempt_, other.attempt_);
    std::swap(is_noted_, other.is_noted_);
    return *this;
  }
  backend_use(const backend_use&) = delete;
  backend_use& operator=(const backend_use&) = delete;
  ~backend_use() {
    if (!of_) return;
    if (!is_noted_) of_->stands->current.give_up(attempt_);
    of_->stands->leave();
    if (of_->on_left) of_->on_left();
  }
  [[nodiscard]] const std::shared_ptr<backend>& of() const { return of_; }
  /// It is the one by which a backend is tried that has failed before.
  [[nodiscard]] bool is_trial() const { return attempt_.is_trial; }
  /// The backend has served it, or has failed. Only the first word counts.
  void note(bool is_good) {
    if (std::exchange(is_noted_, true)) return;
    if (of_->on_outcome) of_->on_outcome(*of_, attempt_, is_good);
  }
  /// It was not reached. Where this process has no descriptor left, the backend is not to blame.
  void note_unreached(const error& why) {
    if (why.code != errc::limit_exceeded) note(false);
  }

 private:
  backend_use(std::shared_ptr<backend> backend, loop::time_point now)
      : of_(std::move(backend)), attempt_(of_->stands->current.begin(now)) {
    ++of_->chosen;
  }

  std::shared_ptr<backend> of_;
  circuit::attempt attempt_;
  bool is_noted_ = false;
};

}  // namespace strata::runtime::proxy
