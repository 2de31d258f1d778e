// Any JSON as options, any text as a flag's value: an error or a value that the table allows.
#include <cstdlib>

#include "runtime/server/options.hpp"
#include "strata/base/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  const std::string text(as_text(std::as_bytes(std::span(data, size))));
  for (const auto& row : runtime::server::option_rows()) {
    const auto value = options::parse_option(row, text);
    if (value && row.kind != options::option_kind::list && !options::check_option(row, *value)) {
      std::abort();
    }
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return 0;
  runtime::server::server_options options;
  if (!options::apply_json(options, runtime::server::option_table(), json)) return 0;
  (void)options::to_json(options, runtime::server::option_table(), false);
  return 0;
}
