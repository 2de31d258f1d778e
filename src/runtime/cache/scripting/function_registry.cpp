#include "runtime/cache/scripting/function_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/scripts/script_head.hpp"
#include "text/pattern.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::array all_flags = {script_no_writes, script_allow_oom, script_allow_stale,
                                  script_no_cluster, script_allow_cross_slot_keys};

// Finds a function, whatever the case of its letters: as in Redis, libraries cannot have names that
// differ only in that. Null if there is none.
const function_library::functions::value_type* find_in(const function_library::functions& all,
                                                       std::string_view name) {
  const auto found = std::ranges::find_if(
      all, [name](const auto& each) { return text::same_text(each.first, name); });
  return found == all.end() ? nullptr : &*found;
}

void reply_function(proto::reply_writer& reply,
                    const function_library::functions::value_type& each) {
  const auto& [name, function] = each;
  reply.map(3);
  reply.bulk("name");
  reply.bulk(name);
  reply.bulk("description");
  if (function.description) {
    reply.bulk(*function.description);
  } else {
    reply.null();
  }
  reply.bulk("flags");
  reply.set(static_cast<std::size_t>(std::ranges::count_if(
      all_flags, [&](script_flag flag) { return (function.flags & flag) != 0; })));
  for (const auto flag : all_flags) {
    if ((function.flags & flag) != 0) reply.status(name_of(flag));
  }
}

}  // namespace

// A text that does not compile, of a version of Redis that this one does not know, is left alone.
void function_registry::refresh() {
  if (version_ == keys_.functions().version()) return;
  version_ = keys_.functions().version();
  libraries_.clear();
  for (const auto& [name, text] : keys_.functions().all()) {
    auto made = function_library::make(loop_, watched_by_, around_, text);
    if (made) {
      libraries_.emplace(name, std::move(*made));
    } else {
      watched_by_.on_error(fmt::format("the library '{}' cannot be used: {}", name, made.error()));
    }
  }
}

void function_registry::put(std::unique_ptr<function_library> library) {
  keys_.functions().put(library->name(), library->text());
  version_ = keys_.functions().version();
  auto name = library->name();
  libraries_.insert_or_assign(std::move(name), std::move(library));
}

std::string function_registry::conflict(const function_library& library, const libraries& others,
                                        bool replaces, std::string_view taken_name) {
  for (const auto& [name, other] : others) {
    if (name == library.name()) {
      if (!replaces) return fmt::format(fmt::runtime(taken_name), name);
      continue;
    }
    for (const auto& [function, unused] : library.all()) {
      if (find_in(other->all(), function) != nullptr) {
        return fmt::format("ERR Function {} already exists", function);
      }
    }
  }
  return {};
}

function_registry::place function_registry::find(std::string_view function) const {
  for (const auto& [name, library] : libraries_) {
    const auto found = library->all().find(function);
    if (found != library->all().end()) return {library.get(), &*found};
  }
  for (const auto& [name, library] : libraries_) {
    if (const auto* const found = find_in(library->all(), function)) return {library.get(), found};
  }
  return {nullptr, nullptr};
}

std::uint8_t function_registry::declared_flags(std::string_view name) {
  refresh();
  const auto found = find(name);
  return found.function == nullptr ? 0 : found.function->second.flags;
}

void function_registry::call_function(call& outer, bool is_read_only) {
  refresh();
  const auto found = find(outer[1]);
  if (found.function == nullptr) {
    outer.fail("ERR Function not found");
    return;
  }
  const auto words = script_arguments::read(outer, 2, "ERR Bad number of keys provided");
  if (!words) return;
  const auto& function = found.function->second;
  if (const auto why = script_commands::refusal(outer, function.flags, is_read_only);
      !why.empty()) {
    outer.fail(why);
    return;
  }
  script_commands::turn turn(around_.commands, outer, rules_of(function.flags, is_read_only));
  found.library->run(function, words->keys, words->others,
                     [&](script::value_view value, const script::failure_place* failed) {
                       turn.reply(found.function->first, value, failed);
                     });
}

void function_registry::load(call& outer, std::string_view text, bool replaces) {
  refresh();
  auto made = function_library::make(loop_, watched_by_, around_, text);
  if (!made) {
    outer.fail(made.error());
    return;
  }
  constexpr auto taken_name = "ERR Library '{}' already exists";
  if (const auto why = conflict(**made, libraries_, replaces, taken_name); !why.empty()) {
    outer.fail(why);
    return;
  }
  const auto name = (*made)->name();
  put(std::move(*made));
  keys_.changes().record();
  outer.reply.bulk(name);
}

void function_registry::restore(call& outer, std::span<const std::string> texts,
                                restore_policy policy) {
  refresh();
  const bool replaces = policy == restore_policy::replace;
  constexpr auto taken_name = "ERR Library {} already exists";
  libraries arrived;
  for (const auto& text : texts) {
    auto made = function_library::make(loop_, watched_by_, around_, text);
    std::string why = made ? conflict(**made, arrived, false, taken_name) : made.error();
    if (why.empty() && policy != restore_policy::flush) {
      why = conflict(**made, libraries_, replaces, taken_name);
    }
    if (!why.empty()) {
      outer.fail(why);
      return;
    }
    auto name = (*made)->name();
    arrived.emplace(std::move(name), std::move(*made));
  }
  if (policy == restore_policy::flush) clear();
  for (auto& [name, library] : arrived) put(std::move(library));
  keys_.changes().record();
  outer.reply.ok();
}

void function_registry::list(call& outer, std::string_view pattern, bool with_texts) {
  refresh();
  std::vector<const function_library*> shown;
  for (const auto& [name, library] : libraries_) {
    if (text::matches_pattern(pattern, name)) shown.push_back(library.get());
  }
  auto& reply = outer.reply;
  reply.array(shown.size());
  for (const auto* const library : shown) {
    reply.map(with_texts ? 4 : 3);
    reply.bulk("library_name");
    reply.bulk(library->name());
    reply.bulk("engine");
    reply.bulk("LUA");
    reply.bulk("functions");
    reply.array(library->all().size());
    for (const auto& each : library->all()) reply_function(reply, each);
    if (!with_texts) continue;
    reply.bulk("library_code");
    reply.bulk(library->text());
  }
}

void function_registry::remove(call& outer, std::string_view name) {
  refresh();
  const auto found = libraries_.find(name);
  if (found == libraries_.end()) {
    outer.fail("ERR Library not found");
    return;
  }
  keys_.functions().remove(name);
  version_ = keys_.functions().version();
  libraries_.erase(found);
  keys_.changes().record();
  outer.reply.ok();
}

void function_registry::clear() {
  keys_.functions().clear();
  version_ = keys_.functions().version();
  libraries_.clear();
}

std::size_t function_registry::count() {
  refresh();
  return libraries_.size();
}

std::size_t function_registry::function_count() {
  refresh();
  std::size_t all = 0;
  for (const auto& [name, library] : libraries_) all += library->all().size();
  return all;
}

std::size_t function_registry::memory() const {
  std::size_t all = 0;
  for (const auto& [name, library] : libraries_) all += library->memory();
  return all;
}

}  // namespace strata::runtime::cache
