#include "cli/stack/report.hpp"

#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"

namespace strata::cli {

deed_report::~deed_report() {
  update();
  if (call_.as_json) print_json(json_of(deeds_));
}

void report_deeds(const invocation& call, const deployment& deployment) {
  deed_report(call, deployment.deeds(), deployment.is_dry()).update();
}

void deed_report::update() {
  for (; reported_ < deeds_.size(); ++reported_) {
    const auto& deed = deeds_[reported_];
    if (call_.as_json || (call_.quiet && deed.effect == "unchanged")) continue;
    print(call_.quiet ? shown_name(deed.name, deed.daemon) + "\n" : line_of(deed, is_dry_));
  }
}

}  // namespace strata::cli
