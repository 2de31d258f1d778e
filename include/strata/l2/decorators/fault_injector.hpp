// A device that injects faults into the frames sent through it; the same seed gives the same
// faults.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "strata/l2/device.hpp"

namespace strata::l2 {

/// The likelihood of each fault for each frame, 0 to 1.
struct faults {
  double loss = 0;
  double duplication = 0;
  double corruption = 0;  ///< one bit, behind the Ethernet header
  double reordering = 0;  ///< held back until 1 to `most_delay` later frames have passed
  double delay = 0;       ///< held back with all frames behind it: order is kept
  unsigned most_delay = 8;
  std::uint64_t seed = 1;
};

/// Wraps a device and injects faults into sent frames. Held frames are sent as later frames pass,
/// or by `flush()`. The wrapped device's threading rules apply.
class fault_injector final : public device {
 public:
  fault_injector(std::unique_ptr<device> device, const faults& faults);

  [[nodiscard]] const interface& link() const override { return within_->link(); }
  void update_link(const interface& interface) override { within_->update_link(interface); }
  [[nodiscard]] int fd() const override { return within_->fd(); }
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override;
  [[nodiscard]] result<std::size_t> try_receive(std::span<frame_slot> slots) override {
    return within_->try_receive(slots);
  }
  [[nodiscard]] result<device_statistics> statistics() override { return within_->statistics(); }

  /// Sends all held frames.
  [[nodiscard]] result<void> flush();
  /// Counts of the faults injected so far.
  struct tally {
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t held = 0;
  };
  [[nodiscard]] const tally& done() const { return done_; }

 private:
  struct held_frame {
    std::vector<std::byte> bytes;
    unsigned due = 0;  ///< frames that must still pass first
    bool blocks = false;
  };

  bool chance(double likelihood);
  result<void> pass(std::vector<std::byte> frame);
  result<void> send_due(unsigned passed);

  std::unique_ptr<device> within_;
  faults how_;
  std::mt19937_64 random_;
  std::vector<held_frame> held_;  // oldest first
  tally done_;
};

}  // namespace strata::l2
