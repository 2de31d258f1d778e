#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <new>
#include <optional>
#include <string_view>

#include "measure/ends/catalogue.hpp"
#include "measure/node/roles.hpp"
#include "measure/node/running_part.hpp"
#include "strata/base/unique_fd.hpp"
#include "strata/wire/vlan.hpp"
#include "text/json_text.hpp"

namespace strata::measure {

namespace {

// In a process of its own, which has no second thread: the kernel's look-up of a descriptor and
// the C library's calls are slower in a process that has one, and the plain C program has none.
class child_part final : public running_part {
 public:
  child_part(order what, end both, std::optional<foreign_traffic> beside)
      : what_(std::move(what)), both_(std::move(both)), beside_(std::move(beside)) {}
  ~child_part() override {
    if (child_ != 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    if (stop_ != nullptr) ::munmap(stop_, sizeof *stop_);
  }

  result<void> start() {
    auto* const shared =
        ::mmap(nullptr, sizeof *stop_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return system_failure(errno, "share memory with a child");
    stop_ = new (shared) stop_flag(false);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure(errno, "make a pipe");
    answer_.reset(ends[0]);
    const unique_fd into(ends[1]);
    const pid_t parent = ::getpid();
    child_ = ::fork();
    if (child_ < 0) {
      child_ = 0;
      return system_failure(errno, "start a child to measure");
    }
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() == parent)
        say(into.get(), play(what_, both_, beside_ ? &*beside_ : nullptr, *stop_));
      ::_exit(0);
    }
    return {};
  }

  [[nodiscard]] std::uint16_t port() const override { return both_.port; }
  result<end_result> finish() override {
    // Those that send know their own end.
    if (what_.role == "receive" || what_.role == "echo") stop_->store(true);
    std::string text;
    std::array<char, 4096> piece;
    for (;;) {
      const auto got = ::read(answer_.get(), piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    ::waitpid(std::exchange(child_, 0), nullptr, 0);
    return end_result_from(text::parse_json(text, "read the result").value_or(nullptr));
  }

 private:
  static void say(int into, const end_result& seen) {
    const auto text = to_json(seen).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::string_view left = text;
    while (!left.empty()) {
      const auto written = ::write(into, left.data(), left.size());
      if (written < 0 && errno != EINTR) return;
      if (written > 0) left.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  order what_;
  end both_;
  std::optional<foreign_traffic> beside_;
  stop_flag* stop_ = nullptr;
  unique_fd answer_;
  pid_t child_ = 0;
};

result<end_options> options_of(const order& what) {
  const auto mac = mac_address::from_text(what.peer_mac);
  if (!mac) return std::unexpected(mac.error());
  const bool both = what.role == "ping" || what.role == "echo";
  return end_options{.interface = what.interface,
                     .mtu = what.mtu,
                     .peer_mac = *mac,
                     .address = what.address,
                     .peer_address = what.peer_address,
                     .peer_port = what.peer_port,
                     .payload = what.payload,
                     .tagged = what.tagged,
                     .vlan_id = what.vlan_id,
                     .priority = what.priority,
                     .sends = both || what.role == "send",
                     .receives = both || what.role == "receive",
                     .busy = what.busy,
                     .buffer = what.buffer};
}

// What comes over the control connection may be anything.
result<void> check(const order& what) {
  const auto refuse = [](std::string which) {
    return failure(errc::invalid_argument, "carry out an order", "its " + std::move(which));
  };
  if (what.role != "send" && what.role != "receive" && what.role != "ping" && what.role != "echo") {
    return refuse("role '" + what.role + "' is not send, receive, ping or echo");
  }
  if (what.payload < min_payload || what.payload > max_payload) {
    return refuse("payload of " + std::to_string(what.payload) + " bytes is not from " +
                  std::to_string(min_payload) + " to " + std::to_string(max_payload));
  }
  if (what.mtu < 576 || what.mtu > 65'535) {
    return refuse("MTU of " + std::to_string(what.mtu) + " bytes is not from 576 to 65535");
  }
  if (what.vlan_id > wire::max_vlan_id) {
    return refuse("VLAN id of " + std::to_string(what.vlan_id) + " is not from 0 to 4094");
  }
  if (what.priority > 7) {
    return refuse("priority of " + std::to_string(what.priority) + " is not from 0 to 7");
  }
  if (!(what.seconds >= 0 && what.seconds <= 3600)) return refuse("seconds are not from 0 to 3600");
  if (!(what.rate >= 0 && what.rate <= 1e9)) return refuse("rate is not from 0 to 10^9");
  if (!(what.foreign >= 0 && what.foreign <= 1e9)) return refuse("foreign is not from 0 to 10^9");
  if (what.buffer > std::uint64_t{1} << 30U) return refuse("buffer is above 1 GiB");
  return {};
}

}  // namespace

result<std::unique_ptr<running_part>> start_child_part(const order& what) {
  if (auto good = check(what); !good) return std::unexpected(good.error());
  const auto row = find_path(what.path);
  if (!row) return std::unexpected(row.error());
  const auto options = options_of(what);
  if (!options) return std::unexpected(options.error());
  auto both = (*row)->open(*options);
  if (!both) return std::unexpected(both.error());
  std::optional<foreign_traffic> beside;
  if (what.foreign > 0 && what.role == "send") {
    auto opened = foreign_traffic::open(*options, what.foreign);
    if (!opened) return std::unexpected(opened.error());
    beside = std::move(*opened);
  }
  auto made = std::make_unique<child_part>(what, std::move(*both), std::move(beside));
  if (auto started = made->start(); !started) return std::unexpected(started.error());
  return made;
}

}  // namespace strata::measure
