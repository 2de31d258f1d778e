// strata version. The build defines STRATA_VERSION, "1.2.3".
#include <fmt/format.h>

#include "cli/daemon_client/control_client.hpp"
#include "cli/system/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

outcome<int> run_version(const invocation& call) {
  const auto daemon = control_client(call.daemon).get("/v1/version");
  if (call.as_json) {
    print_json({{"version", STRATA_VERSION}, {"daemon", daemon ? *daemon : json{}}});
    return exit_done;
  }
  std::string text = fmt::format("strata {}\n", STRATA_VERSION);
  if (daemon) {
    text += fmt::format("daemon {} ({} loop, pid {}) at {}\n",
                        text::printable(text_at(*daemon, "version")),
                        text::printable(text_at(*daemon, "loop")),
                        format_cell(daemon->value("pid", json{}), unit::none), call.daemon.socket);
  } else if (!call.quiet) {
    text += fmt::format("no daemon: {}\n", text::printable(daemon.error().message));
  }
  print(text);
  return exit_done;
}

}  // namespace strata::cli
