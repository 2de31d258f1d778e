// Two devices joined by memory instead of a wire, for tests of programs that use devices: they need
// no root, no namespace and no time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "strata/l2/device.hpp"

namespace strata::l2 {

/// One end of the pair. The other end receives each sent frame once, in order, without delay. While
/// `capacity` frames wait at an end, further frames to it are dropped and counted there. Both ends
/// belong to one thread.
class fake_device final : public device {
 public:
  struct pair;
  /// Two ends, "fake0" (02:00:00:00:00:00) and "fake1" (…:01).
  [[nodiscard]] static pair make_pair(std::uint32_t mtu = 1500, std::size_t capacity = 1024);

  ~fake_device() override;

  [[nodiscard]] const interface& link() const override { return link_; }
  void update_link(const interface& interface) override { link_ = interface; }
  /// Always ready: there is nothing to poll.
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override;
  [[nodiscard]] result<std::size_t> try_receive(std::span<frame_slot> slots) override;
  [[nodiscard]] result<device_statistics> statistics() override { return counted_; }

  /// Sets the link up or down at both ends.
  void set_up(bool up);

 private:
  fake_device(interface link, std::size_t capacity);

  interface link_;
  std::size_t capacity_;
  fake_device* peer_ = nullptr;
  std::deque<std::vector<std::byte>> waiting_;
  device_statistics counted_;
  bool has_reported_down_ = false;
};

struct fake_device::pair {
  std::unique_ptr<fake_device> first;
  std::unique_ptr<fake_device> second;
};

}  // namespace strata::l2
