// Tests the C ABI of AF_XDP with the caller's own memory, program and map.
#include "strata/strata_xdp.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "l2/veth_test.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::abi {
namespace {

template <auto Close>
struct let_go {
  template <class Handle>
  void operator()(Handle* handle) const {
    Close(handle);
  }
};
using umem_handle = std::unique_ptr<strata_xdp_umem, let_go<strata_xdp_umem_close>>;
using socket_handle = std::unique_ptr<strata_xdp_socket, let_go<strata_xdp_socket_close>>;
using own_handle = std::unique_ptr<strata_xdp_own_program, let_go<strata_xdp_own_program_close>>;
using raw_handle = std::unique_ptr<strata_raw_socket, let_go<strata_raw_socket_close>>;
using strata_own_xdp_test = l2::veth_test;

constexpr std::size_t frame_count = 64;
constexpr std::size_t memory_size = frame_count * 4096;

struct owned_memory {
  void* bytes =
      ::mmap(nullptr, memory_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int released = 0;
  ~owned_memory() { ::munmap(bytes, memory_size); }
};

umem_handle umem_over(owned_memory& memory) {
  strata_xdp_umem_options options{};
  strata_xdp_umem_defaults(&options);
  options.frame_count = frame_count;
  strata_xdp_umem* made = nullptr;
  EXPECT_EQ(
      strata_xdp_umem_create_over(
          memory.bytes, memory_size, &options,
          [](void* context) { ++static_cast<owned_memory*>(context)->released; }, &memory, &made),
      0)
      << strata_last_error();
  return umem_handle(made);
}

socket_handle socket_on(strata_xdp_umem* memory, const char* interface) {
  strata_xdp_socket* made = nullptr;
  EXPECT_EQ(strata_xdp_socket_open(memory, interface, 0, nullptr, &made), 0) << strata_last_error();
  return socket_handle(made);
}

bpf_insn instruction(int code, int fd, int from, int offset, int value) {
  return {.code = static_cast<__u8>(code),
          .dst_reg = static_cast<__u8>(fd & 0xf),
          .src_reg = static_cast<__u8>(from & 0xf),
          .off = static_cast<__s16>(offset),
          .imm = value};
}

/// Returns a program that redirects every frame to the map's entry 5.
unique_fd redirecting_program(int map_fd) {
  const std::array code{instruction(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map_fd),
                        instruction(0, 0, 0, 0, 0),
                        instruction(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 5),
                        instruction(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, XDP_PASS),
                        instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map),
                        instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)};
  return unique_fd(
      bpf_prog_load(BPF_PROG_TYPE_XDP, "mine", "GPL", code.data(), code.size(), nullptr));
}

TEST_F(strata_own_xdp_test, frames_come_by_the_callers_program_into_the_callers_memory) {
  owned_memory memory;
  auto umem = umem_over(memory);
  EXPECT_EQ(strata_xdp_umem_memory(umem.get(), nullptr), memory.bytes);
  auto socket = socket_on(umem.get(), "vethB");
  ASSERT_TRUE(socket);
  const unique_fd map(bpf_map_create(BPF_MAP_TYPE_XSKMAP, "mine", 4, 4, 8, nullptr));
  ASSERT_TRUE(map);
  const auto program = redirecting_program(map.get());
  ASSERT_TRUE(program) << std::strerror(errno);
  ASSERT_EQ(strata_xdp_socket_enter_in_map(socket.get(), map.get(), 5), 0) << strata_last_error();
  EXPECT_NE(strata_xdp_socket_enter_in_map(socket.get(), map.get(), 8), 0);
  strata_xdp_own_program* attached = nullptr;
  ASSERT_EQ(strata_xdp_own_program_attach("vethB", program.get(), STRATA_XDP_AUTOMATIC, &attached),
            0)
      << strata_last_error();
  own_handle own(attached);
  EXPECT_EQ(strata_xdp_own_program_mode(own.get()), STRATA_XDP_NATIVE);
  const std::array<std::uint64_t, 2> addresses{0, 4096};
  ASSERT_EQ(strata_xdp_fill(socket.get(), addresses.data(), 2), 2U);

  strata_raw_socket* opened = nullptr;
  ASSERT_EQ(strata_raw_socket_open("vethA", nullptr, &opened), 0);
  const raw_handle sender(opened);
  std::string frame(60, '\0');
  frame[12] = '\x88';
  frame[13] = '\xb5';
  frame.replace(14, 5, "hello");
  ASSERT_EQ(strata_raw_socket_send(sender.get(), frame.data(), frame.size()), 0);
  ASSERT_EQ(strata_xdp_wait_readable(socket.get(), 5000), 1);
  strata_xdp_descriptor came{};
  ASSERT_EQ(strata_xdp_receive(socket.get(), &came, 1), 1U);
  EXPECT_EQ(std::string(static_cast<char*>(memory.bytes) + came.address, came.length), frame);

  EXPECT_EQ(memory.released, 0);
  umem.reset();
  EXPECT_EQ(memory.released, 0) << "the socket uses it";
  socket.reset();
  EXPECT_EQ(memory.released, 1);
  own.reset();
  l2::run_command("! ip link show dev vethB | grep -q xdp");
}

/// A file in this program's folder, and so on the disk on which it was built.
class file_on_disk {
 public:
  file_on_disk() {
    auto name = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "umem-XXXXXX";
    auto text = name.string();
    const unique_fd file(::mkstemp(text.data()));
    ::unlink(text.data());
    EXPECT_EQ(::ftruncate(file.get(), memory_size), 0) << text << ": " << std::strerror(errno);
    bytes_ = ::mmap(nullptr, memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    EXPECT_NE(bytes_, MAP_FAILED) << std::strerror(errno);
  }
  file_on_disk(const file_on_disk&) = delete;
  file_on_disk& operator=(const file_on_disk&) = delete;
  ~file_on_disk() { ::munmap(bytes_, memory_size); }
  [[nodiscard]] void* bytes() const { return bytes_; }

 private:
  void* bytes_ = MAP_FAILED;
};

bool is_kernel_from(int major, int minor) {
  utsname running{};
  ::uname(&running);
  char* rest = nullptr;
  const auto first = std::strtol(running.release, &rest, 10);
  const auto second = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  return std::pair(first, second) >= std::pair<long, long>(major, minor);
}

TEST_F(strata_own_xdp_test, memory_of_a_file_on_a_disk_is_refused_with_what_to_do) {
  const file_on_disk file;
  strata_xdp_umem_options options{};
  strata_xdp_umem_defaults(&options);
  options.frame_count = frame_count;
  strata_xdp_umem* made = nullptr;
  ASSERT_EQ(
      strata_xdp_umem_create_over(file.bytes(), memory_size, &options, nullptr, nullptr, &made), 0)
      << strata_last_error();
  const umem_handle umem(made);
  strata_xdp_socket* opened = nullptr;
  const int code = strata_xdp_socket_open(umem.get(), "vethB", 0, nullptr, &opened);
  const socket_handle socket(opened);
  if (!is_kernel_from(6, 5)) {
    EXPECT_EQ(code, 0) << strata_last_error();
    return;
  }
  EXPECT_EQ(code, -EFAULT);
  const std::string why = strata_last_error();
  EXPECT_TRUE(why.contains("file on a disk") && why.contains("tmpfs")) << why;
}

TEST_F(strata_own_xdp_test, what_cannot_be_is_refused) {
  owned_memory memory;
  strata_xdp_umem* made = nullptr;
  const auto over = [&](void* bytes, std::size_t size) {
    return strata_xdp_umem_create_over(
        bytes, size, nullptr,
        [](void* context) { ++static_cast<owned_memory*>(context)->released; }, &memory, &made);
  };
  EXPECT_EQ(over(static_cast<char*>(memory.bytes) + 8, memory_size), -EINVAL);
  EXPECT_EQ(over(memory.bytes, memory_size), -EINVAL) << "4096 frames do not fit";
  EXPECT_EQ(over(nullptr, memory_size), -EINVAL);
  EXPECT_EQ(memory.released, 0) << "it was never given";

  const unique_fd map(bpf_map_create(BPF_MAP_TYPE_XSKMAP, "mine", 4, 4, 8, nullptr));
  const auto program = redirecting_program(map.get());
  ASSERT_TRUE(program);
  strata_xdp_own_program* attached = nullptr;
  EXPECT_EQ(strata_xdp_own_program_attach("vethZ", program.get(), STRATA_XDP_NATIVE, &attached),
            -ENODEV);
  const int on_card =
      strata_xdp_own_program_attach("vethB", program.get(), STRATA_XDP_HARDWARE, &attached);
  EXPECT_TRUE(on_card == -EOPNOTSUPP || on_card == -EINVAL) << on_card;
  const int no_program =
      strata_xdp_own_program_attach("vethB", map.get(), STRATA_XDP_GENERIC, &attached);
  EXPECT_TRUE(no_program == -EINVAL || no_program == -EBADF) << no_program;
  ASSERT_EQ(strata_xdp_own_program_attach("vethB", program.get(), STRATA_XDP_GENERIC, &attached),
            0);
  const own_handle own(attached);
  EXPECT_EQ(strata_xdp_own_program_mode(own.get()), STRATA_XDP_GENERIC);
  strata_xdp_own_program* second = nullptr;
  EXPECT_EQ(strata_xdp_own_program_attach("vethB", program.get(), STRATA_XDP_GENERIC, &second),
            -EBUSY);
  EXPECT_NE(std::string(strata_last_error()).find("'mine'"), std::string::npos)
      << strata_last_error();
  strata_xdp_program* ours = nullptr;
  EXPECT_EQ(strata_xdp_program_attach("vethA", STRATA_XDP_HARDWARE, &ours), -EOPNOTSUPP);
}

}  // namespace
}  // namespace strata::abi
