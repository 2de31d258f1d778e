#include "cli/system/rows.hpp"

#include "cli/terminal/listing.hpp"

namespace strata::cli {

using enum options::option_kind;

std::vector<verb_row> system_verbs() {
  return {
      {"daemon", "", verb_group::system, "run the daemon in the foreground", 0, 0, run_daemon,
       options::daemon_rows()},
      {"doctor",
       "",
       verb_group::system,
       "check whether this machine has what strata needs",
       0,
       0,
       run_doctor,
       {{.key = "state_dir",
         .kind = text,
         .value_name = "DIR",
         .help = "state folder to check; overrides $STRATA_STATE_DIR"},
        no_header_row()}},
      {"version", "", verb_group::system, "show the versions of this program and the daemon", 0, 0,
       run_version},
  };
}

}  // namespace strata::cli
