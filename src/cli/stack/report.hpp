// Reports deeds: each at once, or all as one JSON document at the end.
#pragma once

#include "cli/line/invocation.hpp"
#include "cli/stack/deployment.hpp"

namespace strata::cli {

class deed_report {
 public:
  /// Both outlive the report. `--quiet` prints only the names of runtimes that were changed.
  deed_report(const invocation& call, const std::vector<deed>& deeds, bool is_dry)
      : call_(call), deeds_(deeds), is_dry_(is_dry) {}
  deed_report(const deed_report&) = delete;
  deed_report& operator=(const deed_report&) = delete;
  /// Prints the JSON document, also of a deployment that has failed.
  ~deed_report();

  /// Prints the deeds since the last call.
  void update();

 private:
  const invocation& call_;
  const std::vector<deed>& deeds_;
  bool is_dry_;
  std::size_t reported_ = 0;
};

/// Reports all deeds of a deployment.
void report_deeds(const invocation& call, const deployment& deployment);

}  // namespace strata::cli
