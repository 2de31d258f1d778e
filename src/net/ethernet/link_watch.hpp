// Follows one network interface on a loop: the kernel reports its changes (rtnetlink), without
// polling.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "loop/loop.hpp"
#include "strata/l2/interface.hpp"
#include "strata/nl/route.hpp"

namespace strata::net {

class link_watch final : private loop::request {
 public:
  /// Receives the interface's present state; nullopt if the interface was removed. Changes that
  /// arrive together are reported once. It may destroy the watch.
  using listener = std::function<void(const std::optional<l2::interface>& interface)>;
  /// An index, which survives renames, or a name, which stands for whichever interface has it.
  using identity = std::variant<int, std::string>;

  /// Errors: as `nl::route_watch::open`.
  [[nodiscard]] static result<std::unique_ptr<link_watch>> open(loop::loop& owner,
                                                                identity identity,
                                                                listener listener);
  ~link_watch() override { abandon(); }

  /// Returns the interface's present state; nullopt if there is no such interface.
  [[nodiscard]] std::optional<l2::interface> look() const;

 private:
  link_watch(loop::loop& owner, nl::route_watch watch, int poll_fd, identity identity,
             listener listener);
  void on_completion(loop::completion completion) override;
  /// Takes all events; reports whether one concerned the interface, and stores its last state in
  /// `interface`.
  [[nodiscard]] bool take_events(std::optional<l2::interface>& interface);
  [[nodiscard]] bool is_it(const nl::link& each) const;

  loop::loop& loop_;
  nl::route_watch watch_;
  loop::descriptor poll_handle_;  // the loop's own descriptor of the same socket
  identity of_;
  listener listener_;
};

/// Waits until something happens to the interface of that name (it is created, for example), but no
/// longer than `at_most`; the whole of `at_most` if rtnetlink is not available.
[[nodiscard]] loop::task<> link_comes(loop::loop& owner, std::string name, loop::duration at_most);

}  // namespace strata::net
