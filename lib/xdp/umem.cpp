#include "strata/xdp/umem.hpp"

#include <unistd.h>

#include <bit>

namespace strata::xdp {

namespace {

constexpr std::uint32_t least_frame = 2048;

result<void> check(const umem_options& options) {
  const auto largest = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  const std::string what = "create a UMEM of " + std::to_string(options.frame_count) +
                           " frames of " + std::to_string(options.frame_size) + " bytes";
  if (options.frame_count == 0) {
    return failure(errc::invalid_argument, what, "it has no frames", "use at least 1");
  }
  if (options.frame_size < least_frame || options.frame_size > largest) {
    return failure(errc::invalid_argument, what, "the kernel does not support this size",
                   "choose a size from 2048 to " + std::to_string(largest));
  }
  if (!options.unaligned && !std::has_single_bit(options.frame_size)) {
    return failure(errc::invalid_argument, what, "the size is not a power of two",
                   "choose 2048 or 4096, or use unaligned frames");
  }
  // The kernel requires room for at least one byte.
  if (options.headroom >= options.frame_size - umem::kernel_headroom) {
    return failure(
        errc::invalid_argument, what,
        "a headroom of " + std::to_string(options.headroom) + " bytes leaves no room in a frame",
        "use less; the kernel itself takes 256 bytes");
  }
  return {};
}

}  // namespace

std::size_t umem::size_of(const umem_options& options) {
  const auto page = options.huge_pages ? mapping::huge_page_size
                                       : static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto size = std::size_t{options.frame_count} * options.frame_size;
  return (size + page - 1) / page * page;
}

result<std::shared_ptr<umem>> umem::create(const umem_options& options) {
  if (auto fine = check(options); !fine) return std::unexpected(fine.error());
  auto memory = mapping::anonymous(size_of(options), options.huge_pages, "a UMEM");
  if (!memory) return std::unexpected(memory.error());
  return std::shared_ptr<umem>(new umem(options, std::move(*memory)));
}

result<std::shared_ptr<umem>> umem::create_in(int memory_fd, const umem_options& options) {
  if (auto fine = check(options); !fine) return std::unexpected(fine.error());
  auto memory = mapping::of(memory_fd, size_of(options), "a UMEM");
  if (!memory) return std::unexpected(memory.error());
  return std::shared_ptr<umem>(new umem(options, std::move(*memory)));
}

result<std::shared_ptr<umem>> umem::create_over(mutable_byte_span memory,
                                                const umem_options& options,
                                                std::shared_ptr<void> keeps) {
  if (auto fine = check(options); !fine) return std::unexpected(fine.error());
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto needed = size_of(options);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(memory.data()) % page == 0;
  if (memory.data() == nullptr || !is_aligned || memory.size() < needed) {
    return failure(
        errc::invalid_argument,
        "create a UMEM over " + std::to_string(memory.size()) + " bytes of memory",
        is_aligned ? "its frames need " + std::to_string(needed) : "it does not start at a page",
        "allocate whole pages with mmap or posix_memalign");
  }
  return std::shared_ptr<umem>(new umem(options, memory.first(needed), std::move(keeps)));
}

}  // namespace strata::xdp
