#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <new>
#include <optional>
#include <string>

#include "measure/ends/catalogue.hpp"
#include "measure/node/roles.hpp"
#include "measure/node/running_part.hpp"
#include "process/child.hpp"
#include "process/pipe.hpp"
#include "strata/base/unique_fd.hpp"
#include "strata/wire/vlan.hpp"
#include "text/json_text.hpp"

namespace strata::measure {

namespace {

// Runs in a process of its own, which has no second thread: the kernel's lookup of a descriptor and
// the C library's calls are slower in a process with several threads, and the plain C program has
// none.
class child_part final : public running_part {
 public:
  child_part(order order, end both, std::optional<foreign_traffic> traffic)
      : what_(std::move(order)), both_(std::move(both)), beside_(std::move(traffic)) {}
  ~child_part() override {
    child_.kill();
    if (stop_ != nullptr) ::munmap(stop_, sizeof *stop_);
  }

  result<void> start() {
    auto* const shared =
        ::mmap(nullptr, sizeof *stop_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return system_failure(errno, "share memory with a child");
    stop_ = new (shared) stop_flag(false);
    auto pipe = process::make_pipe();
    if (!pipe) return std::unexpected(pipe.error());
    answer_ = std::move(pipe->read);
    auto started = process::child::run(
        [&] {
          const auto seen = play(what_, both_, beside_ ? &*beside_ : nullptr, *stop_);
          return process::write_all(pipe->write.get(), text_of(seen)) ? 0 : 1;
        },
        process::bond::dies_with_parent);
    if (!started) return std::unexpected(started.error());
    child_ = std::move(*started);
    return {};
  }

  [[nodiscard]] std::uint16_t port() const override { return both_.port; }
  result<end_result> finish() override {
    // Senders end by themselves.
    if (what_.role == "receive" || what_.role == "echo") stop_->store(true);
    const auto text = process::read_all(answer_.get());
    (void)child_.wait();
    return end_result_from(text::parse_json(text, "read the result").value_or(nullptr));
  }

 private:
  static std::string text_of(const end_result& seen) {
    return to_json(seen).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  order what_;
  end both_;
  std::optional<foreign_traffic> beside_;
  stop_flag* stop_ = nullptr;
  unique_fd answer_;
  process::child child_;
};

result<end_options> options_of(const order& order) {
  const auto mac = mac_address::from_text(order.peer_mac);
  if (!mac) return std::unexpected(mac.error());
  const bool both = order.role == "ping" || order.role == "echo";
  return end_options{.interface = order.interface,
                     .mtu = order.mtu,
                     .peer_mac = *mac,
                     .address = order.address,
                     .peer_address = order.peer_address,
                     .peer_port = order.peer_port,
                     .payload = order.payload,
                     .tagged = order.tagged,
                     .vlan_id = order.vlan_id,
                     .priority = order.priority,
                     .sends = both || order.role == "send",
                     .receives = both || order.role == "receive",
                     .busy = order.busy,
                     .buffer = order.buffer};
}

// Checks an order, since the control connection may deliver anything.
result<void> check(const order& order) {
  const auto refuse = [](std::string text) {
    return failure(errc::invalid_argument, "run a measurement order", "its " + std::move(text));
  };
  if (order.role != "send" && order.role != "receive" && order.role != "ping" &&
      order.role != "echo") {
    return refuse("role '" + order.role + "' is not send, receive, ping or echo");
  }
  if (order.payload < min_payload || order.payload > max_payload) {
    return refuse("payload of " + std::to_string(order.payload) + " bytes is not from " +
                  std::to_string(min_payload) + " to " + std::to_string(max_payload));
  }
  if (order.mtu < 576 || order.mtu > 65'535) {
    return refuse("MTU of " + std::to_string(order.mtu) + " bytes is not from 576 to 65535");
  }
  if (order.vlan_id > wire::max_vlan_id) {
    return refuse("VLAN id of " + std::to_string(order.vlan_id) + " is not from 0 to 4094");
  }
  if (order.priority > 7) {
    return refuse("priority of " + std::to_string(order.priority) + " is not from 0 to 7");
  }
  if (!(order.seconds >= 0 && order.seconds <= 3600))
    return refuse("seconds are not from 0 to 3600");
  if (!(order.rate >= 0 && order.rate <= 1e9)) return refuse("rate is not from 0 to 10^9");
  if (!(order.foreign >= 0 && order.foreign <= 1e9)) return refuse("foreign is not from 0 to 10^9");
  if (order.buffer > std::uint64_t{1} << 30U) return refuse("buffer is above 1 GiB");
  return {};
}

}  // namespace

result<std::unique_ptr<running_part>> start_child_part(const order& order) {
  if (auto good = check(order); !good) return std::unexpected(good.error());
  const auto row = find_path(order.path);
  if (!row) return std::unexpected(row.error());
  const auto options = options_of(order);
  if (!options) return std::unexpected(options.error());
  auto both = (*row)->open(*options);
  if (!both) return std::unexpected(both.error());
  std::optional<foreign_traffic> beside;
  if (order.foreign > 0 && order.role == "send") {
    auto opened = foreign_traffic::open(*options, order.foreign);
    if (!opened) return std::unexpected(opened.error());
    beside = std::move(*opened);
  }
  auto made = std::make_unique<child_part>(order, std::move(*both), std::move(beside));
  if (auto started = made->start(); !started) return std::unexpected(started.error());
  return made;
}

}  // namespace strata::measure
