// strata l2 ping and strata l2 echo: requests in frames, and their answers.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/l2/listening.hpp"
#include "cli/l2/probe_port.hpp"
#include "cli/l2/round_trips.hpp"
#include "cli/l2/rows.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "measure/counting/message.hpp"

namespace strata::cli {

namespace {

using namespace std::chrono_literals;

// How long one frame may wait for room in the kernel.
constexpr auto room_timeout = 100ms;

std::uint64_t flag_ns(const invocation& call, std::string_view key, double otherwise) {
  const double given = std::min(call.flags.value(key, otherwise), 1e9);
  return static_cast<std::uint64_t>(given * 1e9);
}

class pinger {
 public:
  pinger(const invocation& call, probe_port& port, probe_frame frame)
      : over_(port),
        frame_(std::move(frame)),
        count_(call.flags.value("count", std::uint64_t{UINT64_MAX})),
        interval_ns_(flag_ns(call, "interval", 1)),
        timeout_ns_(flag_ns(call, "timeout", 1)),
        shows_(!call.as_json && !call.quiet) {}

  outcome<> run() {
    next_ns_ = measure::now_ns();
    while (!is_interrupted() && trips_.received() < count_) {
      const auto now = measure::now_ns();
      const bool is_sending = trips_.sent_count() < count_;
      if (is_sending && now >= next_ns_) {
        if (auto sent = send(); !sent) return sent;
        continue;
      }
      const auto until = is_sending ? next_ns_ : next_ns_ - interval_ns_ + timeout_ns_;
      if (!is_sending && now >= until) break;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          std::chrono::nanoseconds(until > now ? until - now : 0));
      const auto received =
          over_.receive(std::min<std::chrono::milliseconds>(left, interrupt_interval),
                        [&](const auto& each) { take(each); });
      if (!received) return received;
    }
    return {};
  }
  [[nodiscard]] const round_trips& trips() const { return trips_; }

 private:
  outcome<> send() {
    const auto now = measure::now_ns();
    trips_.sent();
    next_ns_ = now + interval_ns_;
    const auto bytes = frame_.with({.kind = wire::probe_kind::request,
                                    .run = run_,
                                    .sequence = trips_.sent_count(),
                                    .time_ns = now});
    const auto sent = over_.socket().send_raw(bytes, room_timeout);
    if (sent) return over_.receive(0ms, [&](const auto& each) { take(each); });
    const auto why = sent.error().code;
    if (why != errc::connection_closed && why != errc::timed_out) {
      return refuse(exit_failed, sent.error());
    }
    // The link may come back, and the queue may empty: the request counts as lost.
    trips_.refused();
    complain(describe(sent.error()));
    return {};
  }

  void take(const probe_port::received& each) {
    const auto now = measure::now_ns();
    if (!each.what || each.what->kind != wire::probe_kind::answer || each.what->run != run_) return;
    const auto took = now - std::min(each.what->time_ns, now);
    const auto before = trips_.duplicates();
    const bool is_new = trips_.take(each.what->sequence, took);
    if (!shows_ || (!is_new && trips_.duplicates() == before)) return;
    print(fmt::format("{} bytes from {}: seq={} time={}{}\n", each.view.payload().size(),
                      each.view.source().text(), each.what->sequence,
                      in_microseconds(static_cast<double>(took)), is_new ? "" : " (duplicate)"));
  }

  probe_port& over_;
  probe_frame frame_;
  std::uint64_t count_;
  std::uint64_t interval_ns_;
  std::uint64_t timeout_ns_;
  bool shows_;
  std::uint64_t run_ = random_run();
  std::uint64_t next_ns_ = 0;
  round_trips trips_;
};

// A request is returned as it came: with its tags and its padding.
outcome<bool> answer(probe_port& port, const probe_port::received& request) {
  if (!request.what || request.what->kind != wire::probe_kind::request) return false;
  if (request.frame.type == l2::packet_type::other_host || request.frame.is_truncated() ||
      request.view.source().is_multicast()) {
    return false;
  }
  std::vector<std::byte> payload(request.view.payload().begin(), request.view.payload().end());
  auto what = *request.what;
  what.kind = wire::probe_kind::answer;
  what.write(std::span(payload).first<wire::probe::size>());
  const wire::frame_header header{request.view.source(), port.link().mac, request.view.tags(),
                                  port.ethertype()};
  std::vector<std::byte> frame(wire::frame_size(request.view.tags().size(), payload.size()));
  const auto built = wire::build_frame_into(frame, header, payload, wire::max_mtu);
  if (!built) return refuse(exit_failed, built.error());
  if (auto sent = port.socket().send_raw(frame, room_timeout); !sent) {
    return refuse(exit_failed, sent.error());
  }
  return true;
}

}  // namespace

outcome<int> run_l2_ping(const invocation& call) {
  auto over = probe_port::open(call);
  if (!over) return std::unexpected(over.error());
  auto frame = probe_frame::make(call, *over);
  if (!frame) return std::unexpected(frame.error());
  watch_for_interrupt();
  const auto to = frame->destination().text();
  const auto size = frame->payload();
  pinger work(call, *over, std::move(*frame));
  if (!call.as_json && !call.quiet) {
    print(fmt::format("ping {} through {}: {} bytes of payload\n", to, over->link().name, size));
  }
  const auto done = work.run();
  if (call.as_json) {
    auto document = work.trips().json();
    document["interface"] = over->link().name;
    document["destination"] = to;
    document["payload"] = size;
    print_json(document);
  } else {
    print(work.trips().text());
    if (call.is_set("histogram")) print(work.trips().drawn());
  }
  if (!done) return std::unexpected(done.error());
  return work.trips().received() == 0 ? exit_failed : exit_done;
}

outcome<int> run_l2_echo(const invocation& call) {
  auto over = probe_port::open(call);
  if (!over) return std::unexpected(over.error());
  watch_for_interrupt();
  listening state(call);
  std::uint64_t failed = 0;
  outcome<> received;
  while (received && !state.is_over()) {
    received = over->receive(interrupt_interval, [&](const auto& each) {
      state.note_frame();
      if (state.is_over()) return;
      const auto done = answer(*over, each);
      if (!done && failed++ == 0) complain(done.error().message);
      if (done && *done) ++state.taken;
    });
  }
  if (call.as_json) {
    print_json({{"answered", state.taken}, {"not_sent", failed}});
  } else {
    print(fmt::format("{} answered, {} answers could not be sent\n", state.taken, failed));
  }
  if (!received) return std::unexpected(received.error());
  return state.end_code();
}

}  // namespace strata::cli
