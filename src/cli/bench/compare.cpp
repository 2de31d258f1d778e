// strata bench compare
#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "cli/bench/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "measure/report/comparison.hpp"
#include "text/json_text.hpp"

namespace strata::cli {

namespace {

result<measure::named_result> read_result(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream all;
  if (file) all << file.rdbuf();
  if (!file) return system_failure(errno == 0 ? EIO : errno, "read " + path);
  auto document = text::parse_json(all.str(), "read " + path);
  if (!document) return std::unexpected(document.error());
  return measure::named_result{.name = path, .document = std::move(*document)};
}

}  // namespace

outcome<int> run_bench_compare(const invocation& call) {
  std::vector<measure::named_result> results;
  for (const auto& path : call.words) {
    auto read = read_result(path);
    if (!read) return refuse(exit_failed, read.error());
    results.push_back(std::move(*read));
  }
  const auto compared = measure::compare(results);
  if (!compared) return refuse(exit_failed, compared.error());
  if (call.as_json) {
    print_json(*compared);
    return exit_done;
  }
  for (const auto& each : measure::comparison_tables(*compared)) {
    std::vector<bool> to_the_right(each.rows.front().size(), each.title != "Hosts");
    to_the_right[1] = to_the_right[2] = false;
    print(fmt::format("{}\n{}\n", each.title, align(each.rows, to_the_right)));
  }
  print(measure::comparison_summary(*compared) + '\n');
  return exit_done;
}

}  // namespace strata::cli
