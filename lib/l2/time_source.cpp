#include "strata/l2/time_source.hpp"

#include <fcntl.h>

#include <cerrno>

namespace strata::l2 {

namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

std::uint64_t read_clock(clockid_t id) {
  timespec now{};
  ::clock_gettime(id, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * second_ns +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// FD_TO_CLOCKID of Documentation/driver-api/ptp.rst, which no header defines.
clockid_t clock_of(int fd) {
  constexpr unsigned clock_fd = 3;
  return static_cast<clockid_t>((~static_cast<unsigned>(fd) << 3U) | clock_fd);
}

result<bool> sleep_by(clockid_t id, std::uint64_t time_ns) {
  const timespec until{.tv_sec = static_cast<time_t>(time_ns / second_ns),
                       .tv_nsec = static_cast<long>(time_ns % second_ns)};
  const int code = ::clock_nanosleep(id, TIMER_ABSTIME, &until, nullptr);
  if (code == 0) return true;
  if (code == EINTR) return false;
  return system_failure(code, "sleep until " + std::to_string(time_ns) + " ns");
}

}  // namespace

time_source time_source::monotonic() { return {CLOCK_MONOTONIC, "mono", {}}; }
time_source time_source::tai() { return {CLOCK_TAI, "tai", {}}; }

result<time_source> time_source::ptp(const std::string& path) {
  const auto what = "open the PTP clock " + path;
  unique_fd device(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!device) {
    const int code = errno;
    return system_failure(
        code, what,
        code == ENOENT ? "`ls /dev/ptp*` lists the clocks; `ethtool -T IFACE` shows the clock of a "
                         "network card"
                       : "");
  }
  const auto id = clock_of(device.get());
  timespec now{};
  if (::clock_gettime(id, &now) != 0) {
    return failure(errc::not_supported, what, "it is not a PTP clock", "use a device /dev/ptpN");
  }
  return time_source(id, "ptp:" + path, std::move(device));
}

result<time_source> time_source::from_text(std::string_view text) {
  if (text == "mono") return monotonic();
  if (text == "tai") return tai();
  constexpr std::string_view prefix = "ptp:";
  if (text.starts_with(prefix)) return ptp(std::string(text.substr(prefix.size())));
  return failure(errc::invalid_argument, "use the clock '" + std::string(text) + "'",
                 "no clock has this name", "use mono, tai or ptp:/dev/ptpN");
}

std::uint64_t time_source::now_ns() const { return read_clock(id_); }

result<bool> time_source::wait_until(std::uint64_t time_ns) const {
  if (!device_) return sleep_by(id_, time_ns);
  for (;;) {
    // Each sleep ends nearer to the time, as the clocks run at slightly different speeds.
    const auto before = read_clock(CLOCK_MONOTONIC);
    const auto now = read_clock(id_);
    if (now >= time_ns) return true;
    auto slept = sleep_by(CLOCK_MONOTONIC, before + (time_ns - now));
    if (!slept || !*slept) return slept;
    if (read_clock(id_) < now + (time_ns - now) / 2) {
      return failure(errc::conflict, "wait by the clock " + text_,
                     "the clock is stopped, or runs at less than half speed",
                     "check whether PTP sets the clock (phc_ctl), or use another");
    }
  }
}

}  // namespace strata::l2
