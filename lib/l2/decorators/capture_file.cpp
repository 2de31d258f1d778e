#include "strata/l2/decorators/capture_file.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

namespace strata::l2 {

namespace {

constexpr std::uint32_t section_header_block = 0x0A0D0D0A;
constexpr std::uint32_t interface_description_block = 1;
constexpr std::uint32_t enhanced_packet_block = 6;
constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
constexpr std::uint16_t option_interface_name = 2;
constexpr std::uint16_t option_time_resolution = 9;

std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

// Writes values in the writer's own byte order, which the section's magic declares.
class block_body {
 public:
  template <class Value>
  block_body& add(Value value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
    return *this;
  }
  block_body& add_option(std::uint16_t code, byte_span value) {
    add(code).add(static_cast<std::uint16_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    bytes_.resize(padded(bytes_.size()));
    return *this;
  }
  [[nodiscard]] byte_span bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

std::uint64_t present_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

}  // namespace

void capture_file::close_file::operator()(std::FILE* file) const {
  if (file != stdout)
    std::fclose(file);
  else
    std::fflush(file);
}

result<capture_file> capture_file::create(const std::string& path, const interface& interface) {
  return create(path, capture_source{.name = interface.name});
}

result<capture_file> capture_file::create(const std::string& path, const capture_source& source) {
  std::FILE* const opened = path == "-" ? stdout : std::fopen(path.c_str(), "wbe");
  if (opened == nullptr) return system_failure(errno, "write frames to '" + path + "'");
  capture_file made(opened, path);
  const auto section = block_body()
                           .add(byte_order_magic)
                           .add(std::uint16_t{1})
                           .add(std::uint16_t{0})
                           .add(std::int64_t{-1});
  if (auto done = made.write_block(section_header_block, section.bytes(), {}, {}); !done) {
    return std::unexpected(done.error());
  }
  const auto description = block_body()
                               .add(source.link_type)
                               .add(std::uint16_t{0})
                               .add(std::uint32_t{0});  // no limit for a frame's length
  const std::byte nanoseconds{9};
  const auto options = block_body()
                           .add_option(option_interface_name, as_bytes(source.name))
                           .add_option(option_time_resolution, {&nanoseconds, 1})
                           .add_option(0, {});
  if (auto done =
          made.write_block(interface_description_block, description.bytes(), {}, options.bytes());
      !done) {
    return std::unexpected(done.error());
  }
  return made;
}

result<void> capture_file::write(const received_frame& frame) {
  const auto time = frame.time_ns != 0 ? frame.time_ns : present_ns();
  std::array<std::uint32_t, 5> fixed{
      0, static_cast<std::uint32_t>(time >> 32U), static_cast<std::uint32_t>(time & 0xFFFFFFFFU),
      static_cast<std::uint32_t>(frame.bytes.size()), static_cast<std::uint32_t>(frame.wire_size)};
  return write_block(enhanced_packet_block, std::as_bytes(std::span(fixed)), frame.bytes, {});
}

result<void> capture_file::write_block(std::uint32_t type, byte_span fixed, byte_span data,
                                       byte_span options) {
  constexpr std::array<std::byte, 3> padding{};
  const auto size = static_cast<std::uint32_t>(3 * sizeof(std::uint32_t) + fixed.size() +
                                               padded(data.size()) + options.size());
  const auto put = [this](const void* bytes, std::size_t count) {
    return count == 0 || std::fwrite(bytes, count, 1, file_.get()) == 1;
  };
  const bool written = put(&type, sizeof type) && put(&size, sizeof size) &&
                       put(fixed.data(), fixed.size()) && put(data.data(), data.size()) &&
                       put(padding.data(), padded(data.size()) - data.size()) &&
                       put(options.data(), options.size()) && put(&size, sizeof size);
  if (!written) return system_failure(errno, "write frames to '" + path_ + "'");
  return {};
}

result<void> capture_file::flush() {
  if (std::fflush(file_.get()) != 0) {
    return system_failure(errno, "write frames to '" + path_ + "'");
  }
  return {};
}

result<std::size_t> capture_device::try_send(std::span<const byte_span> frames) {
  auto taken = within_->try_send(frames);
  for (const auto& frame : frames.first(taken.value_or(0))) {
    if (auto kept = into_.write({.bytes = frame, .wire_size = frame.size()}); !kept) {
      return std::unexpected(kept.error());
    }
  }
  return taken;
}

result<std::size_t> capture_device::try_receive(std::span<frame_slot> slots) {
  auto filled = within_->try_receive(slots);
  for (const auto& slot : slots.first(filled.value_or(0))) {
    if (auto kept = into_.write(slot.frame); !kept) return std::unexpected(kept.error());
  }
  return filled;
}

}  // namespace strata::l2
