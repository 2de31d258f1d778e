// Two devices joined by memory instead of a wire, for the tests of programs that use devices: no
// root, no namespace, no time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "strata/l2/device.hpp"

namespace strata::l2 {

/// One end. What is sent here is received at the other end, once, in order, at once; what the other
/// end does not take while `capacity` frames wait there is dropped and counted there. Both ends
/// belong to one thread.
class fake_device final : public device {
 public:
  struct pair;
  /// Two ends, "fake0" (02:00:00:00:00:00) and "fake1" (…:01).
  [[nodiscard]] static pair make_pair(std::uint32_t mtu = 1500, std::size_t capacity = 1024);

  ~fake_device() override;

  [[nodiscard]] const interface& link() const override { return link_; }
  void update_link(const interface& interface) override { link_ = interface; }
  /// Always ready: there is nothing to wait on.
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override;
  [[nodiscard]] result<std::size_t> try_receive(std::span<frame_slot> slots) override;
  [[nodiscard]] result<device_statistics> statistics() override { return counted_; }

  /// Takes the link down or up again, at both ends.
  void set_up(bool up);

 private:
  fake_device(interface link, std::size_t capacity);

  interface link_;
  std::size_t capacity_;
  fake_device* peer_ = nullptr;
  std::deque<std::vector<std::byte>> waiting_;
  device_statistics counted_;
  bool told_down_ = false;
};

struct fake_device::pair {
  std::unique_ptr<fake_device> first;
  std::unique_ptr<fake_device> second;
};

}  // namespace strata::l2
