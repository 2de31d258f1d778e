// Reports the deeds of a deployment: each at once, or all as one JSON document at the end.
#pragma once

#include "cli/line/invocation.hpp"
#include "cli/stack/deployment.hpp"

namespace strata::cli {

class deed_report {
 public:
  /// Both outlive the report. `--quiet` prints only the names of runtimes that were changed.
  deed_report(const invocation& call, const deployment& deployment)
      : call_(call), deployment_(deployment) {}
  deed_report(const deed_report&) = delete;
  deed_report& operator=(const deed_report&) = delete;
  /// Prints the JSON document, also of a deployment that has failed.
  ~deed_report();

  /// Prints the deeds since the last call.
  void update();

 private:
  const invocation& call_;
  const deployment& deployment_;
  std::size_t reported_ = 0;
};

/// Reports all deeds.
void report_deeds(const invocation& call, const deployment& deployment);

}  // namespace strata::cli
