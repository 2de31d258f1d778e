// Any text as a stack: an error with its place, or runtimes that stand after those that they need.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "runtime/types/types.hpp"
#include "stack/document.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace strata;
  static const auto reading = [] {
    stack::reading settings{.file = "fuzz.yaml", .folder = "/srv"};
    settings.rows_of = [](std::string_view name) -> std::span<const options::option_row> {
      const auto* const type = runtime::find_type(name);
      if (type == nullptr) return {};
      return type->rows();
    };
    for (const auto& type : runtime::types()) settings.types.emplace_back(type.name);
    settings.variable = [](const std::string& name) -> std::optional<std::string> {
      if (name == "set") return "value";
      return std::nullopt;
    };
    return settings;
  }();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = stack::read_document(text, "fuzz", reading);
  if (!document) {
    if (!document.error().reason.starts_with("fuzz.yaml:")) std::abort();
    return 0;
  }
  std::set<std::string> earlier;
  for (const auto& each : document->runtimes) {
    for (const auto& needed : each.needs) {
      if (!earlier.contains(needed)) std::abort();
    }
    if (each.at.line < 1 || each.at.column < 1) std::abort();
    if (!earlier.insert(each.desired.name).second) std::abort();
  }
  return 0;
}
