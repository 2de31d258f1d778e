#include "measure/remote/own_program.hpp"

#include <link.h>

#include <array>
#include <fstream>
#include <string_view>

namespace strata::measure {

namespace {

constexpr std::string_view of_c_library[] = {"libc.so",  "libm.so",   "libpthread.so", "libdl.so",
                                             "librt.so", "libresolv", "ld-linux"};

int collect(dl_phdr_info* each, std::size_t, void* bytes) {
  const std::string file = each->dlpi_name;
  const auto slash = file.rfind('/');
  // The program itself has no name, and the kernel's part (vdso) has no folder.
  if (slash == std::string::npos) return 0;
  const auto name = file.substr(slash + 1);
  for (const auto skipped : of_c_library) {
    if (name.starts_with(skipped)) return 0;
  }
  static_cast<std::vector<shared_library>*>(bytes)->push_back({file, name});
  return 0;
}

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> made{};
  for (std::uint32_t i = 0; i < made.size(); ++i) {
    made[i] = i << 24U;
    for (int bit = 0; bit < 8; ++bit) {
      made[i] = made[i] << 1U ^ ((made[i] & 0x80000000U) != 0 ? 0x04C11DB7U : 0U);
    }
  }
  return made;
}

constexpr auto table = make_table();

// CRC-32 with the highest bit first, as POSIX specifies for cksum.
class checksum {
 public:
  void take(unsigned char byte) { value_ = value_ << 8U ^ table[value_ >> 24U ^ byte]; }
  [[nodiscard]] std::uint32_t finish(std::uint64_t size) {
    for (; size != 0; size >>= 8U) take(static_cast<unsigned char>(size));
    return ~value_;
  }

 private:
  std::uint32_t value_ = 0;
};

}  // namespace

std::vector<shared_library> own_libraries() {
  std::vector<shared_library> found;
  ::dl_iterate_phdr(collect, &found);
  return found;
}

result<std::string> own_checksum() {
  std::ifstream file(own_program, std::ios::binary);
  checksum sum;
  std::uint64_t size = 0;
  std::array<char, 65536> piece;
  while (file) {
    file.read(piece.data(), piece.size());
    const auto got = static_cast<std::size_t>(file.gcount());
    for (const char each : std::string_view(piece.data(), got)) {
      sum.take(static_cast<unsigned char>(each));
    }
    size += got;
  }
  if (size == 0) return failure(errc::system, "read this program (/proc/self/exe)");
  return std::to_string(sum.finish(size)) + ' ' + std::to_string(size);
}

}  // namespace strata::measure
