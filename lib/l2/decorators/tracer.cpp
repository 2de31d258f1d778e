#include "strata/l2/decorators/tracer.hpp"

namespace strata::l2 {

result<std::size_t> tracer::try_send(std::span<const byte_span> frames) {
  auto taken = within_->try_send(frames);
  for (const auto& frame : frames.first(taken.value_or(0))) {
    see_(direction::sent, {.bytes = frame, .wire_size = frame.size()});
  }
  return taken;
}

result<std::size_t> tracer::try_receive(std::span<frame_slot> slots) {
  auto filled = within_->try_receive(slots);
  for (const auto& slot : slots.first(filled.value_or(0))) see_(direction::received, slot.frame);
  return filled;
}

}  // namespace strata::l2
