// The findings as files for people: a Markdown report with plots, and the JSON document.
#pragma once

#include <string>

#include "measure/run/experiment.hpp"

namespace strata::measure {

/// Returns the report, which refers to the plots in the same folder.
[[nodiscard]] std::string report_of(const findings& findings);

/// Creates `folder` if it is missing and writes results.json, report.md and the plots into it.
/// Errors: those of the files.
[[nodiscard]] result<void> write_report(const findings& findings, const std::string& folder);

}  // namespace strata::measure
