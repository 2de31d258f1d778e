// UMEM: the memory whose frames AF_XDP sockets send from and receive into. It is divided into
// chunks of one size; a frame is identified by its address, an offset from the memory's beginning.
//
// Each socket holds its UMEM, which is destroyed with the last holder, in whatever order sockets
// are destroyed. One thread at a time may create sockets on it. Linux 6.1 or newer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "strata/base/mapping.hpp"
#include "strata/xdp/ring.hpp"

namespace strata::xdp {

struct umem_options {
  std::uint32_t frame_count = 4096;
  /// Bytes: a power of two from 2048 to the page size (4096), or with `unaligned` any size in that
  /// range.
  std::uint32_t frame_size = 4096;
  /// Bytes left free in front of each received frame, behind the 256 that the kernel reserves.
  std::uint32_t headroom = 0;
  /// Frames may begin at any address. Descriptors then carry an offset in their upper 16 bits.
  bool unaligned = false;
  /// Uses huge pages of 2 MiB, as many as hold all frames: see mapping::anonymous.
  bool huge_pages = false;
};

class umem {
 public:
  /// The bytes that the kernel reserves in front of each received frame (XDP_PACKET_HEADROOM).
  static constexpr std::uint32_t kernel_headroom = 256;

  /// Errors: invalid_argument for a size that the kernel would reject; those of `mapping`.
  [[nodiscard]] static result<std::shared_ptr<umem>> create(const umem_options& options = {});
  /// As `create`, in the shared memory of `memory_fd`; for the daemon, which creates sockets for
  /// other processes.
  [[nodiscard]] static result<std::shared_ptr<umem>> create_in(int memory_fd,
                                                               const umem_options& options);

  /// As `create`, in memory of the caller: page-aligned and at least `size_of(options)` bytes, of
  /// which the first are used. The memory must stay in place until the UMEM releases `keeps`, with
  /// its last socket. Errors: invalid_argument for other memory. Linux 6.5 or newer rejects a
  /// shared mapping of a file on a disk: creating the first socket fails with EFAULT; files of
  /// tmpfs and hugetlbfs are accepted.
  [[nodiscard]] static result<std::shared_ptr<umem>> create_over(mutable_byte_span memory,
                                                                 const umem_options& options,
                                                                 std::shared_ptr<void> keeps = {});

  /// Returns the bytes that a UMEM with `options` needs, in whole pages.
  [[nodiscard]] static std::size_t size_of(const umem_options& options);

  [[nodiscard]] const umem_options& options() const { return options_; }
  [[nodiscard]] mutable_byte_span memory() const { return memory_; }
  [[nodiscard]] std::uint32_t frame_count() const { return options_.frame_count; }
  [[nodiscard]] std::uint32_t frame_size() const { return options_.frame_size; }
  /// Returns the address of frame `index`, which is below `frame_count()`.
  [[nodiscard]] std::uint64_t frame_at(std::uint32_t index) const {
    return std::uint64_t{index} * options_.frame_size;
  }

  /// Returns the bytes of a descriptor from a ring. Undefined for any other descriptor.
  [[nodiscard]] mutable_byte_span bytes(const descriptor& descriptor) const {
    return memory_.subspan(position(descriptor.address), descriptor.length);
  }
  /// Returns the beginning of the frame that contains an address of a ring, for reuse.
  [[nodiscard]] std::uint64_t frame_of(std::uint64_t address) const {
    if (options_.unaligned) return address & ((std::uint64_t{1} << offset_shift) - 1);
    return address & ~std::uint64_t{options_.frame_size - 1};
  }
  /// Returns the offset in the memory of an address of a ring.
  [[nodiscard]] std::uint64_t position(std::uint64_t address) const {
    if (!options_.unaligned) return address;
    return (address & ((std::uint64_t{1} << offset_shift) - 1)) + (address >> offset_shift);
  }

 private:
  friend class socket;
  static constexpr unsigned offset_shift = 48;  // XSK_UNALIGNED_BUF_OFFSET_SHIFT

  umem(const umem_options& options, mapping memory)
      : options_(options), mapped_(std::move(memory)), memory_(mapped_.bytes()) {}
  umem(const umem_options& options, mutable_byte_span memory, std::shared_ptr<void> keeps)
      : options_(options), memory_(memory), keeps_(std::move(keeps)) {}

  /// A bound socket, whose UMEM or whose queue's fill and completion rings others can share.
  struct queue_rings;
  struct user {
    std::weak_ptr<queue_rings> rings;
    int fd = -1;
  };

  umem_options options_;
  mapping mapped_;  // empty over the caller's memory
  mutable_byte_span memory_;
  std::shared_ptr<void> keeps_;
  std::vector<user> users_;
};

}  // namespace strata::xdp
