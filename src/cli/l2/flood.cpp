// strata l2 flood and strata l2 sink: frames at full speed, and how many of them arrive.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/l2/link_losses.hpp"
#include "cli/l2/listening.hpp"
#include "cli/l2/probe_port.hpp"
#include "cli/l2/rows.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "measure/counting/message.hpp"
#include "measure/counting/tally.hpp"

namespace strata::cli {

namespace {

using namespace std::chrono_literals;

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return static_cast<double>(to_ns - std::min(from_ns, to_ns)) / 1e9;
}

double rate_of(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

class flooder {
 public:
  flooder(probe_port& port, const probe_frame& like)
      : over_(port), frames_(l2::raw_socket::max_batch, like) {}

  // Sends until `count` frames are sent, or Ctrl-C.
  outcome<> run(std::uint64_t count) {
    began_ns_ = ended_ns_ = measure::now_ns();
    while (sent_ < count && !is_interrupted()) {
      const auto batch = fill(std::min<std::uint64_t>(count - sent_, frames_.size()));
      auto taken = over_.socket().try_send(batch);
      if (taken && *taken == 0) taken = send_one(batch.front());
      ended_ns_ = measure::now_ns();
      if (!taken) return refuse(exit_failed, taken.error());
      sent_ += *taken;
    }
    return {};
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  [[nodiscard]] double seconds() const { return seconds_between(began_ns_, ended_ns_); }

 private:
  std::span<const byte_span> fill(std::size_t count) {
    spans_.clear();
    const auto now = measure::now_ns();
    for (std::size_t i = 0; i < count; ++i) {
      spans_.push_back(frames_[i].with({.kind = wire::probe_kind::load,
                                        .run = run_,
                                        .sequence = sent_ + i + 1,
                                        .time_ns = now}));
    }
    return spans_;
  }

  // Waits for room to send one frame, unless interrupted.
  result<std::size_t> send_one(byte_span frame) {
    const auto sent = l2::send_frame(over_.socket(), frame, interrupt_interval);
    if (sent) return 1;
    if (sent.error().code == errc::timed_out) return 0;
    return std::unexpected(sent.error());
  }

  probe_port& over_;
  std::vector<probe_frame> frames_;
  std::vector<byte_span> spans_;
  std::uint64_t run_ = random_run();
  std::uint64_t sent_ = 0;
  std::uint64_t began_ns_ = 0;
  std::uint64_t ended_ns_ = 0;
};

// What was received of one ping or flood.
class received_run {
 public:
  received_run(std::uint64_t run, std::uint64_t first)
      : run_(run), first_(first), newest_(first), tally_(run, false) {}

  void take(std::uint64_t sequence) {
    first_ = std::min(first_, sequence);
    newest_ = std::max(newest_, sequence);
    const measure::stamp stamp{.sequence = sequence, .time_ns = 0, .run = run_};
    tally_.take(std::as_bytes(std::span(&stamp, 1)));
  }
  [[nodiscard]] std::uint64_t missing() const {
    const auto wanted = newest_ - first_ + 1;
    return wanted - std::min(tally_.delivered(), wanted);
  }
  [[nodiscard]] std::uint64_t duplicates() const { return tally_.duplicates(); }
  [[nodiscard]] std::uint64_t reordered() const { return tally_.reordered(); }

 private:
  std::uint64_t run_;
  std::uint64_t first_;
  std::uint64_t newest_;
  measure::tally tally_;
};

class sink_count {
 public:
  void take(const probe_port::received& each) {
    ended_ns_ = measure::now_ns();
    if (frames_ == 0) began_ns_ = ended_ns_;
    ++frames_;
    bytes_ += each.frame.wire_size;
    if (!each.what) {
      ++foreign_;
      return;
    }
    if (runs_.size() >= most_runs && !runs_.contains(each.what->run)) return;
    const auto number = each.what->sequence;
    runs_.try_emplace(each.what->run, each.what->run, number).first->second.take(number);
  }

  [[nodiscard]] std::uint64_t frames() const { return frames_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] nlohmann::json json(std::uint64_t dropped) const {
    std::uint64_t missing = 0;
    std::uint64_t duplicates = 0;
    std::uint64_t reordered = 0;
    for (const auto& [number, run] : runs_) {
      missing += run.missing();
      duplicates += run.duplicates();
      reordered += run.reordered();
    }
    const double seconds = seconds_between(began_ns_, ended_ns_);
    return {{"frames", frames_},      {"bytes", bytes_},
            {"seconds", seconds},     {"foreign", foreign_},
            {"missing", missing},     {"duplicates", duplicates},
            {"reordered", reordered}, {"dropped_by_kernel", dropped}};
  }

 private:
  // Run numbers come from untrusted senders: there may be any number of runs.
  static constexpr std::size_t most_runs = 64;

  std::map<std::uint64_t, received_run> runs_;
  std::uint64_t frames_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t foreign_ = 0;
  std::uint64_t began_ns_ = 0;
  std::uint64_t ended_ns_ = 0;
};

void show_sunk(const nlohmann::json& value) {
  print(fmt::format("{} frames, {} bytes in {:.3f} s; {} foreign\n",
                    value["frames"].get<std::uint64_t>(), value["bytes"].get<std::uint64_t>(),
                    value["seconds"].get<double>(), value["foreign"].get<std::uint64_t>()));
  print(fmt::format(
      "{} numbers missing, {} duplicates, {} behind a later one, {} dropped by the kernel here\n",
      value["missing"].get<std::uint64_t>(), value["duplicates"].get<std::uint64_t>(),
      value["reordered"].get<std::uint64_t>(), value["dropped_by_kernel"].get<std::uint64_t>()));
}

}  // namespace

outcome<int> run_l2_flood(const invocation& call) {
  auto over = probe_port::open(call, {.receives = false});
  if (!over) return std::unexpected(over.error());
  const auto frame = probe_frame::make(call, *over);
  if (!frame) return std::unexpected(frame.error());
  watch_for_interrupt();
  const link_losses losses(over->link().name);
  flooder work(*over, *frame);
  const auto done = work.run(call.flags.value("count", std::uint64_t{UINT64_MAX}));
  const auto rate = rate_of(work.sent(), work.seconds());
  const auto dropped = losses.dropped();
  if (call.as_json) {
    nlohmann::json document{
        {"frames", work.sent()}, {"seconds", work.seconds()}, {"frames_per_second", rate}};
    if (dropped) document["dropped_by_interface"] = *dropped;
    print_json(document);
  } else {
    print(
        fmt::format("{} frames in {:.3f} s, {:.0f} a second\n", work.sent(), work.seconds(), rate));
    if (dropped.value_or(0) != 0) {
      print(fmt::format("{} dropped by '{}'\n", *dropped, over->link().name));
    }
  }
  if (!done) return std::unexpected(done.error());
  if (const auto trouble = losses.trouble(work.sent())) return refuse(exit_failed, *trouble);
  return exit_done;
}

outcome<int> run_l2_sink(const invocation& call) {
  auto over = probe_port::open(call);
  if (!over) return std::unexpected(over.error());
  watch_for_interrupt();
  listening state(call);
  sink_count counted;
  outcome<> received;
  auto second_began = measure::now_ns();
  std::uint64_t frames_before = 0;
  std::uint64_t bytes_before = 0;
  while (received && !state.is_over()) {
    received = over->receive(interrupt_interval, [&](const auto& each) {
      state.note_frame();
      if (state.is_over()) return;
      counted.take(each);
      state.taken = counted.frames();
    });
    const double took = seconds_between(second_began, measure::now_ns());
    if (took < 1) continue;
    if (!call.as_json && !call.quiet) {
      print(fmt::format("{:.0f} frames/s, {:.0f} bytes/s\n",
                        rate_of(counted.frames() - frames_before, took),
                        rate_of(counted.bytes() - bytes_before, took)));
    }
    second_began = measure::now_ns();
    frames_before = counted.frames();
    bytes_before = counted.bytes();
  }
  const auto kernel = over->socket().statistics();
  const auto reported = counted.json(kernel ? kernel->dropped : 0);
  if (call.as_json) {
    print_json(reported);
  } else {
    show_sunk(reported);
  }
  if (!received) return std::unexpected(received.error());
  return state.end_code();
}

}  // namespace strata::cli
