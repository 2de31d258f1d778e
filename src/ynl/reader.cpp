#include "ynl/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ynl/node.hpp"
#include "ynl/parts.hpp"

namespace strata::ynl {

namespace {

void check_protocol(const node& root) {
  static constexpr std::array protocols = {"genetlink", "genetlink-c", "genetlink-legacy"};
  const auto protocol = root.text_of("protocol", protocols[0]);
  if (std::ranges::find(protocols, protocol) != protocols.end()) return;
  root.refuse(fmt::format("its protocol is '{}': use genetlink, genetlink-c or genetlink-legacy",
                          protocol));
}

}  // namespace

result<spec> read_spec(std::string_view yaml, const std::string& file) {
  spec made{.file = file};
  const auto refused = [&](int line, std::string_view why) {
    return failure(errc::malformed, fmt::format("read the specification '{}'", file),
                   fmt::format("{}{}", line > 0 ? fmt::format("line {}: ", line) : "", why));
  };
  // The parser throws, and so do the parts below.
  try {
    const node root(YAML::Load(std::string(yaml)));
    if (!root.is_map()) root.refuse("it is not a map of 'name', 'attribute-sets', 'operations'");
    made.family = root.needed_text("name");
    check_protocol(root);
    made.doc = root.text_of("doc");
    made.version = static_cast<std::uint8_t>(root.number_of("version", 255).value_or(1));
    budget budget;
    read_definitions(root, budget, made);
    read_sets(root, budget, made);
    read_operations(root, budget, made);
    if (const auto groups = root.map("mcast-groups")) {
      for (const auto& each : groups->list("list")) made.groups.push_back(each.needed_text("name"));
    }
  } catch (const flaw& flaw) {
    return refused(flaw.line, flaw.what());
  } catch (const YAML::Exception& why) {
    return refused(why.mark.line + 1, why.msg);
  }
  return made;
}

}  // namespace strata::ynl
