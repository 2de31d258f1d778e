// What probes and scrapers ask of the control API.
#include <fmt/format.h>

#include "daemon/control_api.hpp"
#include "daemon/process_metrics.hpp"
#include "daemon/render.hpp"

namespace strata::daemon {

loop::task<control_api::answer> control_api::healthz(call /*of*/) {
  co_return answer{200, "text/plain", "ok\n"};
}

loop::task<control_api::answer> control_api::readyz(call /*of*/) {
  std::string text;
  for (const auto& each : supervisor_.all()) {
    if (!each->wanted.running || each->state == run_state::running) continue;
    text += fmt::format("{}: {}{}{}\n", each->name(), name_of(each->state),
                        each->reason.empty() ? "" : ": ", each->reason);
  }
  for (const auto& [name, kept] : supervisor_.unusable()) {
    text += fmt::format("{}: it could not be restored: {}\n", name, kept.reason);
  }
  if (text.empty()) co_return answer{200, "text/plain", "ok\n"};
  co_return answer{503, "text/plain", std::move(text)};
}

loop::task<control_api::answer> control_api::metrics(call /*of*/) {
  co_return answer{200, "text/plain; version=0.0.4",
                   metrics_text(supervisor_) + process_metrics(facts_.version)};
}

}  // namespace strata::daemon
