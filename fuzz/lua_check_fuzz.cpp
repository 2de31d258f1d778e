// Any text is looked through for mistakes, whose lines are its own.
#include <algorithm>
#include <cstdlib>

#include "script/checker.hpp"
#include "strata/base/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const strata::script::known_names known{
      .tables = {{"strata", {"log", "json.encode"}}, {"self", {"send"}}},
      .callbacks = {"on_start"}};
  const auto text = strata::as_text(std::as_bytes(std::span(data, size)));
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  for (const auto& each : strata::script::check_source(text, "fuzz.lua", known)) {
    // Lua counts a carriage return as a line's end too.
    const auto returns = static_cast<std::size_t>(std::ranges::count(text, '\r'));
    if (each.line > lines + returns || each.what.empty()) std::abort();
  }
  return 0;
}
