#include "cli/nl_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace strata::cli {

namespace {

using nl::attribute_kind;

constexpr std::size_t deepest = 8;

struct typed_attribute {
  std::string_view whole;
  std::vector<std::uint16_t> path;
  std::string_view kind;  ///< empty when none was named
  std::optional<std::string_view> value;
};

std::unexpected<refusal> misused(std::string_view whole, std::string_view why) {
  return refuse(exit_misused, fmt::format("--attr cannot be '{}': {}", whole, why));
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number, is_hex ? 16 : 10);
  if (text.empty() || code != std::errc{} || rest != end) return {};
  return number;
}

outcome<typed_attribute> parse(std::string_view whole) {
  typed_attribute made{.whole = whole, .path = {}, .kind = {}, .value = {}};
  auto head = whole;
  if (const auto equals = whole.find('='); equals != std::string_view::npos) {
    made.value = whole.substr(equals + 1);
    head = whole.substr(0, equals);
  }
  if (const auto colon = head.find(':'); colon != std::string_view::npos) {
    made.kind = head.substr(colon + 1);
    head = head.substr(0, colon);
  }
  for (;;) {
    const auto dot = head.find('.');
    const auto number = number_in<std::uint16_t>(head.substr(0, dot));
    if (!number || *number > 0x3FFF || made.path.size() == deepest) {
      return misused(whole,
                     "write PATH[:TYPE][=VALUE], PATH as 3 or 3.1, as in 1=hello or 2:u32=5");
    }
    made.path.push_back(*number);
    if (dot == std::string_view::npos) return made;
    head.remove_prefix(dot + 1);
  }
}

template <class Number>
bool put_number(wire::netlink_writer& to, const typed_attribute& what) {
  const auto number = number_in<Number>(what.value.value_or(""));
  if (number) to.put_number(what.path.back(), *number);
  return number.has_value();
}

bool put_hex(wire::netlink_writer& to, const typed_attribute& what) {
  const auto digits = what.value.value_or("");
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    const auto* const first = digits.data() + at;
    std::uint8_t byte = 0;
    const auto* const end = digits.data() + std::min(at + 2, digits.size());
    const auto [rest, code] = std::from_chars(first, end, byte, 16);
    if (code != std::errc{} || rest != first + 2) return false;
    bytes.push_back(std::byte{byte});
  }
  to.put(what.path.back(), bytes);
  return true;
}

bool put(wire::netlink_writer& to, const typed_attribute& what, attribute_kind kind) {
  switch (kind) {
    case attribute_kind::flag: to.put(what.path.back(), {}); return !what.value;
    case attribute_kind::u8: return put_number<std::uint8_t>(to, what);
    case attribute_kind::u16: return put_number<std::uint16_t>(to, what);
    case attribute_kind::u32: return put_number<std::uint32_t>(to, what);
    case attribute_kind::u64:
    case attribute_kind::uint: return put_number<std::uint64_t>(to, what);
    case attribute_kind::s8: return put_number<std::int8_t>(to, what);
    case attribute_kind::s16: return put_number<std::int16_t>(to, what);
    case attribute_kind::s32: return put_number<std::int32_t>(to, what);
    case attribute_kind::s64:
    case attribute_kind::sint: return put_number<std::int64_t>(to, what);
    case attribute_kind::string:
    case attribute_kind::nul_string:
      to.put_text(what.path.back(), what.value.value_or(""));
      return what.value.has_value();
    default: return put_hex(to, what);
  }
}

/// As TYPE is written.
std::optional<attribute_kind> kind_named(std::string_view name) {
  for (auto number = 1U; number <= static_cast<unsigned>(attribute_kind::uint); ++number) {
    const auto kind = static_cast<attribute_kind>(number);
    if (nl::name_of(kind) == name) return kind;
  }
  return {};
}

/// As the kernel says; it says nothing of what it does not look at.
std::optional<attribute_kind> kind_told(const typed_attribute& what,
                                        const nl::family_policy* policy,
                                        const std::vector<nl::attribute_policy>* table) {
  for (std::size_t depth = 0; policy != nullptr && table != nullptr; ++depth) {
    const auto found = std::ranges::find(*table, what.path[depth], &nl::attribute_policy::type);
    if (found == table->end()) return {};
    if (depth + 1 == what.path.size()) return found->kind;
    const auto next = found->table ? policy->tables.find(*found->table) : policy->tables.end();
    table = next == policy->tables.end() ? nullptr : &next->second;
  }
  return {};
}

}  // namespace

outcome<> write_attributes(wire::netlink_writer& to, const std::vector<std::string>& typed,
                           const nl::family_policy* policy,
                           const std::vector<nl::attribute_policy>* table) {
  std::vector<std::uint16_t> open;
  std::set<std::vector<std::uint16_t>> written;
  for (const auto& each : typed) {
    const auto what = parse(each);
    if (!what) return std::unexpected(what.error());
    const std::vector<std::uint16_t> parents(what->path.begin(), what->path.end() - 1);
    const bool again = !written.insert(what->path).second && !parents.empty();
    if (again) written = {what->path};
    // The nests that both are in stay open.
    auto same = static_cast<std::size_t>(std::ranges::mismatch(open, parents).in1 - open.begin());
    if (again) same = std::min(same, parents.size() - 1);
    for (; open.size() > same; open.pop_back()) to.close_nest();
    for (; open.size() < parents.size(); open.push_back(parents[open.size()])) {
      to.open_nest(parents[open.size()]);
    }
    auto kind = kind_told(*what, policy, table);
    if (!what->kind.empty()) {
      kind = kind_named(what->kind);
      if (!kind) {
        return misused(each,
                       "its type is none of u8, u16, u32, u64, s8, s16, s32, s64, flag, "
                       "nul-string, binary");
      }
    }
    const auto chosen =
        kind.value_or(what->value ? attribute_kind::nul_string : attribute_kind::flag);
    if (!put(to, *what, chosen)) {
      return misused(each, fmt::format("its value is no {}", nl::name_of(chosen)));
    }
  }
  for (; !open.empty(); open.pop_back()) to.close_nest();
  return {};
}

}  // namespace strata::cli
