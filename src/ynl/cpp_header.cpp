#include "ynl/cpp_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ynl/cpp_attributes.hpp"

namespace strata::ynl {

namespace {

bool has_reply(const std::optional<exchange>& exchange) { return exchange && exchange->has_reply; }

/// Writes the text of a header, in parts that each depend on those before it.
class header_writer {
 public:
  explicit header_writer(const spec& spec) : spec_(spec), attributes_(spec) {
    for (const auto& each : spec.operations) {
      if (!each.has_fixed_header) continue;
      throw cpp_flaw("its messages have a fixed header, which typed commands do not support");
    }
  }

  code lines(std::string_view source) {
    const auto space = cpp_name(spec_.family);
    code all{fmt::format("// Made by strata nl generate from {}: change that, not this.", source),
             "#pragma once", ""};
    for (const auto* const each :
         {"bit", "concepts", "cstdint", "optional", "span", "string_view", "utility"}) {
      all.push_back(fmt::format("#include <{}>", each));
    }
    append(all, {"", "#include \"strata/nl/typed.hpp\"", ""});
    append(all, cpp_comment(spec_.doc));
    append(all,
           {fmt::format("namespace {} {{", space), "", "namespace typed = strata::nl::typed;", "",
            fmt::format("constexpr std::string_view family_name = {};", cpp_literal(spec_.family)),
            fmt::format("constexpr std::uint8_t family_version = {};", spec_.version), ""});
    for (const auto& part :
         {constants(), enums(), groups(), views(), writers(), requests(), client()}) {
      append(all, part);
    }
    append(all, {fmt::format("}}  // namespace {}", space), ""});
    return all;
  }

 private:
  /// Returns a unique name in the namespace.
  std::string own_name(std::string_view word, std::string_view suffix = {}) {
    const auto within = suffix.empty() ? cpp_place::space : cpp_place::anywhere;
    auto made = cpp_name(word, within) + std::string(suffix);
    if (!names_.insert(made).second) {
      throw cpp_flaw(fmt::format("two items of '{}' would be named {}", spec_.family, made));
    }
    return made;
  }

  code constants() {
    code lines;
    for (const auto& each : spec_.constants) {
      append(lines, cpp_comment(each.doc));
      const auto name = own_name(each.name);
      const auto put = [&](std::string_view type, std::string_view value) {
        append(lines, {fmt::format("constexpr {} {} = {};", type, name, value), ""});
      };
      if (const auto* const text = std::get_if<std::string>(&each.value)) {
        put("std::string_view", cpp_literal(*text));
      } else if (const auto* const below = std::get_if<std::int64_t>(&each.value)) {
        put("std::int64_t", std::to_string(*below));
      } else {
        put("std::uint64_t", std::to_string(std::get<std::uint64_t>(each.value)));
      }
    }
    return lines;
  }

  code enums() {
    code lines;
    for (const auto& each : spec_.enums) {
      const auto bits_of = [&](const entry& one) {
        return each.is_flags ? std::uint64_t{1} << one.value : one.value;
      };
      const bool is_wide = std::ranges::any_of(
          each.entries, [&](const entry& one) { return bits_of(one) >= std::uint64_t{1} << 32U; });
      const auto* const type = is_wide ? "std::uint64_t" : "std::uint32_t";
      const auto name = own_name(each.name);
      append(lines, cpp_comment(each.doc));
      // Flags are combined, as numbers.
      lines.push_back(each.is_flags ? fmt::format("namespace {} {{", name)
                                    : fmt::format("enum class {} : {} {{", name, type));
      for (const auto& one : each.entries) {
        append(lines, cpp_comment(one.doc));
        lines.push_back(each.is_flags ? fmt::format("constexpr {} {} = {:#x};", type,
                                                    cpp_name(one.name), bits_of(one))
                                      : fmt::format("{} = {},", cpp_name(one.name), one.value));
      }
      append(lines, {each.is_flags ? fmt::format("}}  // namespace {}", name) : "};", ""});
    }
    return lines;
  }

  code groups() const {
    if (spec_.groups.empty()) return {};
    code lines{"/// Multicast groups, to join.", "namespace groups {"};
    for (const auto& each : spec_.groups) {
      lines.push_back(
          fmt::format("constexpr std::string_view {} = {};", cpp_name(each), cpp_literal(each)));
    }
    append(lines, {"}  // namespace groups", ""});
    return lines;
  }

  /// Returns the sets in these attributes' nests, and in nests within those.
  std::vector<const attribute_set*> nested_sets(attribute_list waiting) const {
    std::vector<const attribute_set*> found;
    while (!waiting.empty()) {
      const auto* const set = attributes_.set_within(*waiting.back());
      waiting.pop_back();
      if (set == nullptr || std::ranges::find(found, set) != found.end()) continue;
      found.push_back(set);
      const auto all = cpp_attributes::all_of(*set);
      waiting.insert(waiting.end(), all.begin(), all.end());
    }
    return found;
  }

  void add_view(const std::string& name, std::string_view doc, const attribute_list& all,
                std::optional<std::uint8_t> number, cpp_attributes::accessors& accessors) const {
    const auto made = attributes_.read(name, all);
    auto& lines = accessors.declared;
    append(lines, cpp_comment(doc));
    append(lines, {fmt::format("class {} : public typed::view {{", name), "public:"});
    if (number) {
      lines.push_back(fmt::format("static constexpr std::uint8_t command = {};", *number));
    }
    lines.emplace_back("using view::view;");
    if (number) {
      append(lines, {"/// nullopt when it is another message.",
                     fmt::format("[[nodiscard]] static std::optional<{}> parse(", name),
                     "const strata::wire::netlink_message& from) {",
                     fmt::format("return typed::parse<{}>(from);", name), "}"});
    }
    append(lines, made.declared);
    append(lines, {"};", ""});
    append(accessors.defined, made.defined);
  }

  /// One reply for do and dump: an attribute that a message lacks is nullopt. Most families use one
  /// number for both.
  void add_reply(const operation& operation, cpp_attributes::accessors& accessors) {
    std::vector<std::string> names;
    std::set<std::uint8_t> numbers;
    for (const auto* const each : {&operation.act, &operation.dump}) {
      if (!has_reply(*each)) continue;
      numbers.insert((*each)->reply);
      names.insert(names.end(), (*each)->reply_attributes.begin(), (*each)->reply_attributes.end());
    }
    if (numbers.empty() && !operation.dump) return;
    if (numbers.empty()) numbers.insert(operation.dump->request);
    if (numbers.size() > 1) {
      throw cpp_flaw(
          fmt::format("the do and dump replies of '{}' have different numbers", operation.name));
    }
    add_view(own_name(operation.name, "_reply"), operation.doc, attributes_.named(operation, names),
             *numbers.begin(), accessors);
  }

  code views() {
    attribute_list reported;
    for (const auto& each : spec_.operations) {
      for (const auto* const one : {&each.act, &each.dump, &each.event}) {
        if (!*one) continue;
        const auto all = attributes_.named(each, (*one)->reply_attributes);
        reported.insert(reported.end(), all.begin(), all.end());
      }
    }
    const auto nested = nested_sets(std::move(reported));
    cpp_attributes::accessors parts;
    for (const auto* const each : nested) {
      add_view(own_name(each->name, "_view"), fmt::format("The set '{}'.", each->name),
               cpp_attributes::all_of(*each), {}, parts);
    }
    for (const auto& each : spec_.operations) {
      add_reply(each, parts);
      if (!each.event) continue;
      add_view(own_name(each.name, "_notification"), each.doc,
               attributes_.named(each, each.event->reply_attributes), each.event->reply, parts);
    }
    auto lines = announced(nested, "_view");
    lines.emplace_back();
    append(lines, parts.declared);
    append(lines, parts.defined);
    lines.emplace_back();
    return lines;
  }

  static code announced(const std::vector<const attribute_set*>& sets, std::string_view suffix) {
    code lines;
    for (const auto* const each : sets) {
      lines.push_back(fmt::format("class {}{};", cpp_name(each->name), suffix));
    }
    return lines;
  }

  code writers() {
    attribute_list taken;
    for (const auto& each : spec_.operations) {
      for (const auto* const one : {&each.act, &each.dump}) {
        if (!*one) continue;
        const auto all = attributes_.named(each, (*one)->request_attributes);
        taken.insert(taken.end(), all.begin(), all.end());
      }
    }
    const auto nested = nested_sets(std::move(taken));
    auto lines = announced(nested, "_writer");
    for (const auto* const each : nested) {
      const auto name = own_name(each->name, "_writer");
      append(lines, {"", fmt::format("class {} : public typed::writer {{", name),
                     "public:", "using writer::writer;"});
      append(lines, attributes_.written(name, cpp_attributes::all_of(*each)));
      lines.emplace_back("};");
    }
    lines.emplace_back();
    return lines;
  }

  code requests() {
    code lines;
    for (const auto& each : spec_.operations) {
      if (each.act) add_request(each, *each.act, false, lines);
      if (each.dump) add_request(each, *each.dump, true, lines);
    }
    return lines;
  }

  void add_request(const operation& operation, const exchange& exchange, bool is_dump,
                   code& lines) {
    const auto name = own_name(operation.name, is_dump ? "_dump_request" : "_request");
    const auto* const flags = is_dump              ? "strata::wire::netlink_flag::dump"
                              : exchange.has_reply ? "0"
                                                   : "strata::wire::netlink_flag::ack";
    append(lines, cpp_comment(operation.doc));
    append(lines, {fmt::format("class {} : public typed::request {{", name), "public:",
                   fmt::format("{}(strata::nl::connection& over, std::uint16_t family)", name),
                   fmt::format(": request(over, family, {}, {}, family_version) {{}}", flags,
                               exchange.request)});
    append(lines,
           attributes_.written(name, attributes_.named(operation, exchange.request_attributes)));
    const auto reply = cpp_name(operation.name) + "_reply";
    const auto says = cpp_literal(
        fmt::format("{} {} of {}", is_dump ? "dump" : "call", operation.name, spec_.family));
    if (is_dump) {
      append(lines, {"/// Hands each message over, which is valid until the next.",
                     fmt::format("template <std::invocable<const {}&> Each>", reply),
                     "[[nodiscard]] strata::result<void> for_each(Each&& each) {",
                     fmt::format("return dump<{}>({}, std::forward<Each>(each));", reply, says)});
    } else if (exchange.has_reply) {
      append(lines, {fmt::format("[[nodiscard]] strata::result<{}> ask() {{", reply),
                     fmt::format("return ask_for<{}>({});", reply, says)});
    } else {
      append(lines, {"[[nodiscard]] strata::result<void> ask() {",
                     fmt::format("return ask_for_ack({});", says)});
    }
    append(lines, {"}", "};", ""});
  }

  code client() const {
    code lines{"/// A connection to the family; each call begins a request, which is sent by its",
               "/// `ask` or `for_each`.",
               "class client : public typed::client {",
               "public:",
               "using typed::client::client;",
               "/// Errors: not_found, when this kernel has no such family.",
               "[[nodiscard]] static strata::result<client> open(",
               "const strata::nl::connection_options& options = {},",
               "std::string_view family = family_name) {",
               "return open_as<client>(family, options);",
               "}"};
    const auto call = [&](const operation& operation, std::string_view prefix,
                          std::string_view suffix) {
      append(lines, cpp_comment(operation.doc));
      const auto name = cpp_name(fmt::format("{}{}", prefix, operation.name), cpp_place::client);
      append(lines,
             {fmt::format("[[nodiscard]] {}{} {}() {{", cpp_name(operation.name), suffix, name),
              "return {over(), family_id()};", "}"});
    };
    for (const auto& each : spec_.operations) {
      if (each.act) call(each, "", "_request");
      if (each.dump) call(each, "dump_", "_dump_request");
    }
    append(lines, {"};", ""});
    return lines;
  }

  const spec& spec_;
  cpp_attributes attributes_;
  std::set<std::string> names_;
};

}  // namespace

result<std::string> cpp_header(const spec& spec, std::string_view source) {
  // The parts throw.
  try {
    return fmt::format("{}", fmt::join(header_writer(spec).lines(source), "\n"));
  } catch (const cpp_flaw& flaw) {
    return failure(errc::malformed, fmt::format("generate commands from '{}'", spec.file),
                   flaw.what());
  }
}

}  // namespace strata::ynl
