// Follows one network interface on a loop: the kernel tells what happens to it (rtnetlink), nobody
// looks again and again.
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
  /// Hears what is so now; nullopt when the interface was removed. What happened in one go is told
  /// once. It may destroy the watch.
  using listener = std::function<void(const std::optional<l2::interface>& interface)>;
  /// By index, whatever it is called; or by name, whichever has that.
  using identity = std::variant<int, std::string>;

  /// Errors: as `nl::route_watch::open`.
  [[nodiscard]] static result<std::unique_ptr<link_watch>> open(loop::loop& owner,
                                                                identity identity, listener hears);
  ~link_watch() override { abandon(); }

  /// What is so at this moment; nullopt when there is no such interface.
  [[nodiscard]] std::optional<l2::interface> look() const;

 private:
  link_watch(loop::loop& owner, nl::route_watch watch, int poll_fd, identity identity,
             listener hears);
  void on_completion(loop::completion completion) override;
  /// Takes all events; says whether one was of the interface, and in `interface` what the last one
  /// said.
  [[nodiscard]] bool take_events(std::optional<l2::interface>& interface);
  [[nodiscard]] bool is_it(const nl::link& each) const;

  loop::loop& loop_;
  nl::route_watch watch_;
  loop::descriptor poll_handle_;  // a descriptor of the loop's own, of the same socket
  identity of_;
  listener hears_;
};

/// Waits until something happens to an interface of that name, such as that it comes to be; no
/// longer than `at_most`, and that long where it cannot be heard.
[[nodiscard]] loop::task<> link_comes(loop::loop& owner, std::string name, loop::duration at_most);

}  // namespace strata::net
