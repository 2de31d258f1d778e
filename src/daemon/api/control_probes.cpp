// The control API's answers to probes and scrapers: version, health, metrics.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "daemon/api/control_answers.hpp"
#include "daemon/api/process_metrics.hpp"
#include "daemon/supervisor/render.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::daemon {

loop::task<api_answer> control_answers::get_version(call /*of*/) {
  const auto up = supervisor_.home().now() - facts_.started;
  const auto shown = certificates_ ? certificates_->get() : nullptr;
  co_return json_answer(
      {{"version", facts_.version},
       {"api", "1"},
       {"pid", ::getpid()},
       {"loop", facts_.loop},
       {"loops", loops_.size()},
       {"state_dir", supervisor_.place()},
       {"uptime_s", std::chrono::duration<double>(up).count()},
       {"certificates", runtime::certificates_json(shown ? shown->certificates()
                                                         : std::vector<net::certificate_info>{})}});
}

loop::task<api_answer> control_answers::healthz(call /*of*/) {
  co_return api_answer{200, "text/plain", "ok\n"};
}

loop::task<api_answer> control_answers::readyz(call /*of*/) {
  std::string text;
  for (const auto& each : supervisor_.list().all()) {
    if (!each->desired.running || each->state == run_state::running) continue;
    text += fmt::format("{}: {}{}{}\n", each->name(), name_of(each->state),
                        each->reason.empty() ? "" : ": ", each->reason);
  }
  for (const auto& [name, kept] : supervisor_.list().unusable()) {
    text += fmt::format("{}: it could not be restored: {}\n", name, kept.reason);
  }
  if (text.empty()) co_return api_answer{200, "text/plain", "ok\n"};
  co_return api_answer{503, "text/plain", std::move(text)};
}

// All requests in one turn of the loop share one page: writing it takes longer than sending it.
loop::task<api_answer> control_answers::metrics(call /*of*/) {
  const auto now = supervisor_.home().now();
  if (now != metrics_written_ || metrics_page_.empty()) {
    metrics_page_ = metrics_text(supervisor_.list()) + process_metrics(facts_.version);
    metrics_written_ = now;
  }
  co_return api_answer{200, "text/plain; version=0.0.4", metrics_page_};
}

}  // namespace strata::daemon
