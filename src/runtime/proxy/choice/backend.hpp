// A backend: a place to which a proxy passes connections.
//
// For one loop's thread. The state of a backend is shared by all loops of a proxy.
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

/// The runtimes behind a name that are not backups.
enum class preference : std::uint8_t {
  none,   ///< all
  local,  ///< those of this daemon
  zone,   ///< those of the daemons in the zone of this one
};

/// One `--backend`, parsed.
struct backend_text {
  std::string text;
  net::endpoint_url url;
  /// One of the addresses of the URL's host, which the URL itself does not contain.
  std::optional<loop::socket_address> at = std::nullopt;
  bool is_group = false;  ///< the URL's name is a group, each runtime of which is a backend
  std::uint64_t weight = 1;
  std::uint64_t max = 0;  ///< limit of concurrent connections or requests; 0: none
  bool is_backup = false;
  bool is_drained = false;  ///< gets nothing new
  bool speaks_http2 = false;
  preference preferred = preference::none;
  int proxy_version = 0;  ///< version of the PROXY header sent on connections to it; 0: none

  /// As a URL: with the address, if the host has several.
  [[nodiscard]] std::string where() const;
  /// Whether its name is followed: that of a group, of a runtime, or of a host other than this one.
  [[nodiscard]] bool is_followed() const;
  /// Whether connections to the two are interchangeable.
  [[nodiscard]] bool is_spoken_to_as(const backend_text& other) const {
    return url == other.url && at == other.at && speaks_http2 == other.speaks_http2 &&
           proxy_version == other.proxy_version;
  }
};

/// Parses `HOST:PORT`, a URL, a runtime's name or `@GROUP`, followed by `weight=N`, `max=N`,
/// `backup`, `drain`, `http2`, `proxy=v1`, `proxy=v2`, `prefer=local` and `prefer=zone`, separated
/// by blanks.
/// Errors: invalid_argument, naming the text and the mistake.
[[nodiscard]] result<backend_text> parse_backend(const std::string& text);

[[nodiscard]] std::uint64_t mark_of(const backend_text& text);
/// The place in such a text, without the backend's settings.
[[nodiscard]] std::string_view place_of(std::string_view text);

/// Used by the loop that checks it.
struct backend_checks {
  bool is_asked = false;      ///< a check is under way
  std::uint64_t against = 0;  ///< checks in a row that contradict the known state
};

/// A backend, and its state. It lives as long as a connection to it does.
struct backend {
  explicit backend(backend_text text,
                   std::shared_ptr<standing> shared = std::make_shared<standing>())
      : is(std::move(text)), stands(std::move(shared)) {}

  /// The preface of a connection to it, made for `client`. Null: made for the proxy itself.
  [[nodiscard]] std::string preface_for(const net::peer_info* client) const;
  /// Whether that connection to it uses HTTP/2: as negotiated by TLS, or else as configured.
  [[nodiscard]] bool takes_http2(const net::stream& stream) const;

  backend_text is;
  std::uint64_t mark = mark_of(is);  ///< identifies the backend by its place without revealing it
  std::shared_ptr<standing> stands;
  std::uint64_t chosen = 0;  ///< how often this loop has chosen it, in all
  std::uint64_t failed = 0;  ///< how often it was unreachable, or broke off
  std::int64_t turn = 0;     // for round-robin
  backend_checks checks;
  std::shared_ptr<branch_figures> counted = std::make_shared<branch_figures>();
  std::function<void()> on_left;  ///< called when a connection or request leaves it
  /// Called with the outcome of a connection or request.
  std::function<void(backend&, const circuit::attempt&, bool is_good)> on_outcome;

  [[nodiscard]] std::uint64_t connections() const {
    return stands->connections.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_full() const { return is.max != 0 && connections() >= is.max; }
};

/// A connection or a request that uses a backend, from the moment when the backend was chosen.
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
  /// Whether it is the trial of a backend that has failed before.
  [[nodiscard]] bool is_trial() const { return attempt_.is_trial; }
  /// Records that the backend has served it, or has failed. Only the first call counts.
  void note(bool is_good) {
    if (std::exchange(is_noted_, true)) return;
    if (of_->on_outcome) of_->on_outcome(*of_, attempt_, is_good);
  }
  /// Records that the backend was not reached. If this process has no descriptor left, the backend
  /// is not at fault.
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
