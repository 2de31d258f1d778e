// Findings as files for people: a Markdown report with plots, and the JSON document.
#pragma once

#include <string>

#include "measure/run/experiment.hpp"

namespace strata::measure {

/// The report, which refers to the plots that lie beside it.
[[nodiscard]] std::string report_of(const findings& findings);

/// Makes `folder` if it is not there and writes results.json, report.md and the plots into it.
/// Errors: of the files.
[[nodiscard]] result<void> write_report(const findings& findings, const std::string& folder);

}  // namespace strata::measure
