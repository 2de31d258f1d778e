#include "proto/framing.hpp"

namespace strata::proto {

framing framing_of(std::string_view name) {
  if (name == "length") return framing::length;
  if (name == "raw") return framing::raw;
  return framing::line;
}

envelope envelope_for(framing framing, std::size_t message_size) {
  envelope made;
  if (framing == framing::line) made.after = "\n";
  if (framing == framing::length) {
    made.before_size = 4;
    for (std::size_t i = 0; i < made.before_size; ++i) {
      made.before[i] = static_cast<char>((message_size >> (8 * (3 - i))) & 0xFFU);
    }
  }
  return made;
}

result<void> frame_reader::keep(byte_span input) {
  if (partial_.size() + input.size() > max_message_) return too_long();
  partial_.append(as_text(input));
  return {};
}

result<void> frame_reader::too_long() const {
  return failure(errc::limit_exceeded, "read a message",
                 "it is longer than " + std::to_string(max_message_) + " bytes",
                 "raise --max-message, or choose another --framing");
}

std::size_t frame_reader::announced() const {
  std::size_t size = 0;
  for (std::size_t i = 0; i < header_size; ++i) {
    size = size << 8U | static_cast<unsigned char>(partial_[i]);
  }
  return size;
}

}  // namespace strata::proto
