// LATENCY: slow events, and how long calls take.
#include "runtime/cache/engine/statistics/latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

void latency_latest(call& c) {
  const auto& events = c.home().statistics().latencies().events();
  c.reply.array(events.size());
  for (const auto& [name, history] : events) {
    c.reply.array(4);
    c.reply.bulk(name);
    c.reply.integer(history.samples.back().time_s);
    c.reply.integer(history.samples.back().ms);
    c.reply.integer(history.worst_ms);
  }
}

void latency_history(call& c) {
  const auto* const found = c.home().statistics().latencies().find(c[2]);
  c.reply.array(found == nullptr ? 0 : found->samples.size());
  if (found == nullptr) return;
  for (const auto& each : found->samples) {
    c.reply.array(2);
    c.reply.integer(each.time_s);
    c.reply.integer(each.ms);
  }
}

void latency_reset(call& c) {
  auto& log = c.home().statistics().latencies();
  std::size_t forgotten = log.events().size();
  if (c.size() == 2) {
    log.clear();
  } else {
    const auto names = c.words.subspan(2);
    forgotten = static_cast<std::size_t>(
        std::ranges::count_if(names, [&](std::string_view each) { return log.forget(each); }));
  }
  c.reply.integer(static_cast<std::int64_t>(forgotten));
}

// --- GRAPH

std::string age_of(std::int64_t seconds) {
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m", seconds / 60);
  if (seconds < 86400) return fmt::format("{}h", seconds / 3600);
  return fmt::format("{}d", seconds / 86400);
}

// Draws one column per sample, four lines of three steps each; below, vertically, its age.
std::string draw(std::span<const latency_log::sample> samples, std::int64_t low, std::int64_t high,
                 std::int64_t now_s) {
  constexpr int lines = 4;
  constexpr std::string_view marks = "_o#";
  constexpr auto steps = lines * static_cast<int>(marks.size());
  std::string text;
  for (int line = lines - 1; line >= 0; --line) {
    for (const auto& each : samples) {
      const auto range = std::max<std::int64_t>(high - low, 1);
      const auto step =
          static_cast<int>(std::min<std::int64_t>((each.ms - low) * steps / range, steps - 1));
      const auto above = step - line * static_cast<int>(marks.size());
      text += above < 0 ? ' ' : above < 3 ? marks[static_cast<std::size_t>(above)] : '|';
    }
    text += '\n';
  }
  text += '\n';
  std::vector<std::string> ages;
  for (const auto& each : samples)
    ages.push_back(age_of(std::max<std::int64_t>(now_s - each.time_s, 0)));
  const auto longest = std::ranges::max(ages, {}, &std::string::size).size();
  for (std::size_t i = 0; i < longest; ++i) {
    for (const auto& each : ages) text += i < each.size() ? each[i] : ' ';
    text += '\n';
  }
  return text;
}

void latency_graph(call& c) {
  const auto* const found = c.home().statistics().latencies().find(c[2]);
  if (found == nullptr) {
    c.fail("ERR No samples available for event '" + std::string(c[2]) + "'");
    return;
  }
  constexpr std::size_t columns = 80;
  const std::vector<latency_log::sample> all(found->samples.begin(), found->samples.end());
  const auto shown = std::span(all).last(std::min(all.size(), columns));
  const auto [low, high] = std::ranges::minmax(shown, {}, &latency_log::sample::ms);
  c.reply.verbatim("txt",
                   fmt::format("{} - high {} ms, low {} ms (all time high {} ms)\n{:-<80}\n{}",
                               std::string(c[2]), high.ms, low.ms, found->worst_ms, "",
                               draw(shown, low.ms, high.ms, c.now_ms() / 1000)));
}

void latency_doctor(call& c) {
  const auto threshold = c.home().settings().latency_threshold_ms;
  std::string text;
  if (threshold == 0) {
    text =
        "Latency monitoring is off: \"CONFIG SET latency-monitor-threshold <milliseconds>\" "
        "starts to record operations that take at least this time.\n";
  } else if (c.home().statistics().latencies().events().empty()) {
    text = fmt::format("No operation took {} ms or more.\n", threshold);
  }
  for (const auto& [name, history] : c.home().statistics().latencies().events()) {
    text += fmt::format("{}: in {} different seconds, last {} ms, maximum {} ms.\n", name,
                        history.samples.size(), history.samples.back().ms, history.worst_ms);
  }
  if (!c.home().statistics().latencies().events().empty()) {
    text += "SLOWLOG GET lists the commands.\n";
  }
  c.reply.verbatim("txt", text);
}

// --- HISTOGRAM

// Finds the command of this name, and its subcommands; without a name, all.
std::vector<const command*> find_all(call& c) {
  std::vector<const command*> found;
  const auto add = [&](auto&& is_wanted) {
    for (const auto& each : all_commands()) {
      if (is_wanted(each) &&
          c.home().statistics().counted_commands()[each.index].times.calls() != 0) {
        found.push_back(&each);
      }
    }
  };
  if (c.size() == 2) add([](const command&) { return true; });
  for (const auto& name : c.words.subspan(2)) {
    const auto* const named = find_command(name);
    add([&](const command& each) {
      const bool is_inside = named != nullptr && each.parent == named->row;
      return is_inside || text::same_text(each.full_name(), name);
    });
  }
  return found;
}

void latency_histogram(call& c) {
  const auto found = find_all(c);
  c.reply.map(found.size());
  for (const auto* each : found) {
    const auto& times = c.home().statistics().counted_commands()[each->index].times;
    const auto steps = times.steps();
    c.reply.bulk(each->full_name());
    c.reply.map(2);
    c.reply.bulk("calls");
    c.reply.integer(static_cast<std::int64_t>(times.calls()));
    c.reply.bulk("histogram_usec");
    c.reply.map(steps.size());
    for (const auto& step : steps) {
      c.reply.integer(static_cast<std::int64_t>(step.most_us));
      c.reply.integer(static_cast<std::int64_t>(step.calls));
    }
  }
}

void latency_help(call& c) {
  constexpr std::array<std::string_view, 7> lines = {
      "LATENCY <subcommand>. Subcommands are:",
      "DOCTOR -- describes latency events in sentences.",
      "GRAPH <event> -- draws the latencies of an event.",
      "HISTOGRAM [<command> ...] -- returns the distribution of execution times.",
      "HISTORY <event> -- returns the times and latencies (ms) of an event.",
      "LATEST -- returns the last and the maximum latency of each event.",
      "RESET [<event> ...] -- removes the records of events."};
  c.reply_lines(lines);
}

// clang-format off
const command_row latency_rows[] = {
    {"doctor", 2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "2.8.13",
     "describes latency events in sentences", latency_doctor},
    {"graph", 3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "2.8.13",
     "draws the latencies of an event", latency_graph},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "2.8.13",
     "lists the subcommands of LATENCY", latency_help},
    {"histogram", -2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "7.0.0",
     "returns the distribution of the execution times of commands", latency_histogram},
    {"history", 3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "2.8.13",
     "returns the recorded latencies of an event", latency_history},
    {"latest", 2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "2.8.13",
     "returns the last latency of each event", latency_latest},
    {"reset", -2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "2.8.13",
     "removes the records of events", latency_reset},
};

const command_row latency_group_rows[] = {
    {"latency", -2, "", {0, 0, 0},
     "", "", "2.8.13",
     "reports slow operations", nullptr, latency_rows},
};
// clang-format on

}  // namespace

command_group latency_commands() { return {"server", latency_group_rows}; }

}  // namespace strata::runtime::cache
