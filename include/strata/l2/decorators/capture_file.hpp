// Writes frames to a pcapng file, which tcpdump, tshark and Wireshark read (IETF draft
// draft-ietf-opsawg-pcapng; libpcap itself only writes the older format).
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "strata/l2/device.hpp"

namespace strata::l2 {

/// The source of a capture file's packets.
struct capture_source {
  std::string name;             ///< name of the interface
  std::uint16_t link_type = 1;  ///< 1 is Ethernet; see https://www.tcpdump.org/linktypes.html
};

class capture_file {
 public:
  /// Creates or truncates the file at `path` ("-" for standard output) and writes its header: one
  /// interface, Ethernet, nanoseconds. Errors: those of the file.
  [[nodiscard]] static result<capture_file> create(const std::string& path,
                                                   const interface& interface);
  /// The same, for packets of another link type.
  [[nodiscard]] static result<capture_file> create(const std::string& path,
                                                   const capture_source& source);

  /// Appends a frame. A frame without a time gets the current time.
  [[nodiscard]] result<void> write(const received_frame& frame);
  /// Passes all written bytes to the kernel. The destructor does so too, but ignores errors.
  [[nodiscard]] result<void> flush();

 private:
  struct close_file {
    void operator()(std::FILE* file) const;
  };
  capture_file(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  [[nodiscard]] result<void> write_block(std::uint32_t type, byte_span fixed, byte_span data,
                                         byte_span options);

  std::unique_ptr<std::FILE, close_file> file_;
  std::string path_;
};

/// Wraps a device and writes every frame that passes through it to `file`, which must outlive it.
class capture_device final : public device {
 public:
  capture_device(std::unique_ptr<device> device, capture_file& file)
      : within_(std::move(device)), into_(file) {}

  [[nodiscard]] const interface& link() const override { return within_->link(); }
  void update_link(const interface& interface) override { within_->update_link(interface); }
  [[nodiscard]] int fd() const override { return within_->fd(); }
  /// Errors: also those of the file.
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override;
  [[nodiscard]] result<std::size_t> try_receive(std::span<frame_slot> slots) override;
  [[nodiscard]] result<device_statistics> statistics() override { return within_->statistics(); }

 private:
  std::unique_ptr<device> within_;
  capture_file& into_;
};

}  // namespace strata::l2
