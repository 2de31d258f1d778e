// strata l2 qdisc: the queueing disciplines of an interface, with the schedules of taprio and etf.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/l2/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "strata/nl/route.hpp"

namespace strata::cli {

namespace {

using nlohmann::json;

std::string span_text(std::int64_t ns) {
  if (ns % 1'000'000 == 0) return fmt::format("{} ms", ns / 1'000'000);
  return ns % 1000 == 0 ? fmt::format("{} us", ns / 1000) : fmt::format("{} ns", ns);
}

json schedule_as_json(const nl::gate_schedule& schedule) {
  auto entries = json::array();
  for (const auto& each : schedule.entries) {
    entries.push_back(
        {{"command", each.command}, {"gates", each.gates}, {"interval_ns", each.interval_ns}});
  }
  return {{"base_time_ns", schedule.base_time_ns},
          {"cycle_time_ns", schedule.cycle_time_ns},
          {"cycle_extension_ns", schedule.cycle_extension_ns},
          {"entries", entries}};
}

struct to_json_object {
  json& made;
  void operator()(std::monostate /*other*/) const {}
  void operator()(const nl::taprio& taprio) const {
    made["clock"] = nl::clock_text(taprio.clock_id);
    made["txtime_assist"] = taprio.assists_txtime();
    made["offload"] = taprio.is_offloaded();
    made["txtime_delay_ns"] = taprio.txtime_delay_ns;
    made["class_of_priority"] = taprio.class_of_priority;
    if (taprio.running) made["running"] = schedule_as_json(*taprio.running);
    if (taprio.next) made["next"] = schedule_as_json(*taprio.next);
  }
  void operator()(const nl::etf& etf) const {
    made["clock"] = nl::clock_text(etf.clock_id);
    made["delta_ns"] = etf.delta_ns;
    made["deadline"] = etf.is_deadline;
    made["offload"] = etf.is_offloaded;
    made["skip_socket_check"] = etf.skips_socket_check;
  }
};

json qdisc_as_json(const nl::qdisc& qdisc) {
  json made{{"kind", qdisc.kind},
            {"handle", nl::qdisc::text_of(qdisc.handle)},
            {"parent", nl::qdisc::text_of(qdisc.parent)},
            {"holds_frames", qdisc.holds_frames()}};
  std::visit(to_json_object{made}, qdisc.what);
  return made;
}

std::string schedule_text(std::string_view which, const nl::gate_schedule& schedule) {
  auto text = fmt::format("  {}: base time {} ns, cycle {}\n", which, schedule.base_time_ns,
                          span_text(schedule.cycle_time_ns));
  for (const auto& each : schedule.entries) {
    text += fmt::format("    gates {:#04x}  {}\n", each.gates, span_text(each.interval_ns));
  }
  return text;
}

struct to_text {
  void operator()(std::monostate /*other*/) const {}
  void operator()(const nl::taprio& taprio) const {
    text += fmt::format(", clock {}{}{}\n", nl::clock_text(taprio.clock_id),
                        taprio.assists_txtime() ? ", txtime-assist" : "",
                        taprio.is_offloaded() ? ", in the card" : "");
    text += fmt::format("  classes of priorities 0 to 15: {}\n",
                        fmt::join(taprio.class_of_priority, " "));
    if (taprio.running) text += schedule_text("running", *taprio.running);
    if (taprio.next) text += schedule_text("next", *taprio.next);
  }
  void operator()(const nl::etf& etf) const {
    text += fmt::format(", clock {}, delta {}{}{}{}\n", nl::clock_text(etf.clock_id),
                        span_text(etf.delta_ns), etf.is_deadline ? ", deadline mode" : "",
                        etf.is_offloaded ? ", in the card" : "",
                        etf.skips_socket_check ? ", without a check of sockets" : "");
  }
  std::string& text;
};

std::string qdisc_text(const nl::qdisc& qdisc) {
  auto text = qdisc.is_root()
                  ? fmt::format("{} {} root", qdisc.kind, nl::qdisc::text_of(qdisc.handle))
                  : fmt::format("{} {} below {}", qdisc.kind, nl::qdisc::text_of(qdisc.handle),
                                nl::qdisc::text_of(qdisc.parent));
  std::visit(to_text{text}, qdisc.what);
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace

outcome<int> run_l2_qdisc(const invocation& call) {
  auto over = nl::route::open();
  if (!over) return refuse(exit_failed, over.error());
  const auto on = over->link_named(call.words[0]);
  if (!on) return refuse(exit_not_found, on.error());
  const auto all = over->qdiscs(on->index);
  if (!all) return refuse(exit_failed, all.error());
  auto objects = json::array();
  for (const auto& each : *all) objects.push_back(qdisc_as_json(each));
  if (call.as_json) {
    print_json(objects);
  } else {
    for (const auto& each : *all) print(call.quiet ? each.kind + "\n" : qdisc_text(each));
  }
  return exit_done;
}

}  // namespace strata::cli
