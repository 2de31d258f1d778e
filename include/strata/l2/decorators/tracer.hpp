// A device that shows each frame that passes through it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "strata/l2/device.hpp"

namespace strata::l2 {

/// Wraps a device and calls `see` on the caller's thread for each frame that the device sent or
/// received. The bytes are valid during the call.
class tracer final : public device {
 public:
  enum class direction : std::uint8_t { sent, received };
  using observer = std::function<void(direction, const received_frame&)>;

  tracer(std::unique_ptr<device> device, observer see)
      : within_(std::move(device)), see_(std::move(see)) {}

  [[nodiscard]] const interface& link() const override { return within_->link(); }
  void update_link(const interface& interface) override { within_->update_link(interface); }
  [[nodiscard]] int fd() const override { return within_->fd(); }
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override;
  [[nodiscard]] result<std::size_t> try_receive(std::span<frame_slot> slots) override;
  [[nodiscard]] result<device_statistics> statistics() override { return within_->statistics(); }

 private:
  std::unique_ptr<device> within_;
  observer see_;
};

}  // namespace strata::l2
