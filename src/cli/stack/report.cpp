#include "cli/stack/report.hpp"

#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "text/readable.hpp"

namespace strata::cli {

deed_report::~deed_report() {
  update();
  if (call_.as_json) print_json(json_of(deployment_.deeds()));
}

void report_deeds(const invocation& call, const deployment& deployment) {
  deed_report(call, deployment).update();
}

void deed_report::update() {
  const auto& deeds = deployment_.deeds();
  for (; reported_ < deeds.size(); ++reported_) {
    const auto& deed = deeds[reported_];
    if (call_.as_json || (call_.quiet && deed.effect == "unchanged")) continue;
    print(call_.quiet ? text::printable(deed.name) + "\n" : line_of(deed, deployment_.is_dry()));
  }
}

}  // namespace strata::cli
