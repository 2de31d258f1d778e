#include "net/ethernet/link_watch.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>

#include <cerrno>

namespace strata::net {

namespace {

l2::interface interface_of(const nl::link& link) {
  // The kernel reports IFF_RUNNING up to a second later than IFF_LOWER_UP, its cause.
  constexpr unsigned lower_up = 1U << 16U;
  const unsigned running = (link.flags & lower_up) != 0 ? IFF_RUNNING : 0;
  return {.name = link.name,
          .index = link.index,
          .mac = link.mac,
          .mtu = link.mtu,
          .flags = (link.flags & ~unsigned{IFF_RUNNING}) | running,
          .rx_queues = link.rx_queues,
          .tx_queues = link.tx_queues};
}

}  // namespace

result<std::unique_ptr<link_watch>> link_watch::open(loop::loop& owner, identity identity,
                                                     listener listener) {
  auto watch = nl::route_watch::open(nl::route_watch::subject::links);
  if (!watch) return std::unexpected(watch.error());
  const int handle = ::fcntl(watch->fd(), F_DUPFD_CLOEXEC, 0);
  if (handle < 0) return system_failure(errno, "watch network interfaces");
  return std::unique_ptr<link_watch>(
      new link_watch(owner, std::move(*watch), handle, std::move(identity), std::move(listener)));
}

link_watch::link_watch(loop::loop& owner, nl::route_watch watch, int poll_fd, identity identity,
                       listener listener)
    : loop_(owner),
      watch_(std::move(watch)),
      poll_handle_(owner.adopt(poll_fd)),
      of_(std::move(identity)),
      listener_(std::move(listener)) {
  loop_.poll(poll_handle_, POLLIN, *this);
}

void link_watch::on_completion(loop::completion) {
  std::optional<l2::interface> now;
  const bool has_changed = take_events(now);
  loop_.poll(poll_handle_, POLLIN, *this);
  if (!has_changed) return;
  // The last action: the listener may destroy this object, and with it itself.
  const auto listener = listener_;
  listener(now);
}

bool link_watch::take_events(std::optional<l2::interface>& interface) {
  bool has_changed = false;
  bool is_lost = false;
  for (;;) {
    const auto event = watch_.try_event();
    // ENOBUFS arrives before the queued events, which are older than the lost ones.
    if (!event && event.error().sys_errno == ENOBUFS) {
      is_lost = true;
      continue;
    }
    if (!event || !*event) break;
    const auto* const changed = std::get_if<nl::link_changed>(&**event);
    const auto* const removed = std::get_if<nl::link_removed>(&**event);
    if (changed != nullptr && is_it(changed->now)) {
      interface = interface_of(changed->now);
      has_changed = true;
    } else if (removed != nullptr && is_it(removed->last)) {
      interface.reset();
      has_changed = true;
    }
  }
  if (is_lost) interface = look();
  return has_changed || is_lost;
}

bool link_watch::is_it(const nl::link& each) const {
  if (const auto* const index = std::get_if<int>(&of_)) return each.index == *index;
  return each.name == std::get<std::string>(of_);
}

std::optional<l2::interface> link_watch::look() const {
  auto on = nl::route::open();
  if (!on) return {};
  const auto* const index = std::get_if<int>(&of_);
  const auto found =
      index != nullptr ? on->link_at(*index) : on->link_named(std::get<std::string>(of_));
  if (!found) return {};
  return interface_of(*found);
}

loop::task<> link_comes(loop::loop& owner, std::string name, loop::duration at_most) {
  loop::awaited_timer wait(owner, at_most);
  const auto watch = link_watch::open(owner, std::move(name), [&](const auto& now) {
    if (now) owner.arm_after(wait, loop::duration::zero());
  });
  co_await wait;
}

}  // namespace strata::net
