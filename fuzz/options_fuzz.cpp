// Any JSON as options, any text as a flag's value: an error or a value that the table allows.
#include <cstdlib>

#include "runtime/server/options.hpp"
#include "strata/base/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  const std::string text(as_text(std::as_bytes(std::span(data, size))));
  for (const auto& row : runtime::server_rows()) {
    const auto value = runtime::parse_option(row, text);
    if (value && row.kind != runtime::option_kind::list && !runtime::check_option(row, *value)) {
      std::abort();
    }
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return 0;
  runtime::server_options options;
  if (!runtime::apply_json(options, runtime::server_table(), json)) return 0;
  (void)runtime::to_json(options, runtime::server_table(), false);
  return 0;
}
