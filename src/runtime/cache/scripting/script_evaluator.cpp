#include "runtime/cache/scripting/script_evaluator.hpp"

#include <functional>
#include <utility>

#include "runtime/cache/engine/scripts/script_head.hpp"

namespace strata::runtime::cache {

namespace {

std::string in_small_digits(std::string_view digest) {
  std::string made(digest);
  for (auto& letter : made) {
    if (letter >= 'A' && letter <= 'F') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return made;
}

}  // namespace

bool script_evaluator::prepare(call& outer) {
  if (room_) return true;
  auto made = script_room::make(loop_, *this,
                                {.redis = script_commands::rows(),
                                 .commands = &commands_,
                                 .version = commands_.version(),
                                 .supervisor = &supervisor_});
  if (!made) {
    outer.fail("ERR " + describe(made.error()));
    return false;
  }
  room_ = std::move(*made);
  return true;
}

bool script_evaluator::knows(std::string_view digest) const {
  return scripts_.contains(in_small_digits(digest));
}

// The room too: nothing of the scripts stays.
void script_evaluator::forget_all() {
  recent_texts_ = {};
  scripts_.clear();
  room_.reset();
}

const script_evaluator::scripts::value_type* script_evaluator::find(call& outer,
                                                                    std::string_view text) {
  if (!prepare(outer)) return nullptr;
  auto& recent = recent_texts_[std::hash<std::string_view>{}(text) % recent_texts_.size()];
  if (recent.script != nullptr && recent.text == text) return recent.script;
  const auto* const found = find_or_compile(outer, text);
  if (found != nullptr && text.size() <= longest_recent) recent = {std::string(text), found};
  return found;
}

const script_evaluator::scripts::value_type* script_evaluator::find_or_compile(
    call& outer, std::string_view text) {
  auto digest = script_digest(text);
  if (const auto known = scripts_.find(digest); known != scripts_.end()) return &*known;
  const auto head = read_script_head(text);
  if (!head) {
    outer.fail(head.error());
    return nullptr;
  }
  auto body = room_->compile(head->body, "@user_script");
  if (!body) {
    outer.fail("ERR Error compiling script (new function): " + body.error().reason);
    return nullptr;
  }
  kept_script made{.body = std::move(*body), .has_head = head->is_there, .flags = head->flags};
  return &*scripts_.emplace(std::move(digest), std::move(made)).first;
}

void script_evaluator::load(call& outer, std::string_view text) {
  if (const auto* const found = find(outer, text)) outer.reply.bulk(found->first);
}

void script_evaluator::evaluate(call& outer, std::string_view text, std::size_t first,
                                bool is_read_only) {
  if (const auto* const found = find(outer, text)) run(outer, *found, first, is_read_only);
}

void script_evaluator::evaluate_known(call& outer, std::string_view digest, std::size_t first,
                                      bool is_read_only) {
  const auto known = scripts_.find(in_small_digits(digest));
  if (known == scripts_.end()) {
    if (script_arguments::read(outer, first)) {
      outer.fail("NOSCRIPT No matching script. Please use EVAL.");
    }
    return;
  }
  run(outer, *known, first, is_read_only);
}

std::uint8_t script_evaluator::declared_flags(const command& command,
                                              std::span<const std::string_view> words) {
  if (words.size() < 2) return 0;
  const auto name = command.row->name;
  if (name.starts_with("fcall")) return functions_.declared_flags(words[1]);
  if (name.starts_with("evalsha")) {
    const auto known = scripts_.find(in_small_digits(words[1]));
    return known == scripts_.end() ? 0 : known->second.flags;
  }
  const auto head = read_script_head(words[1]);
  return head ? head->flags : 0;
}

void script_evaluator::run(call& outer, const scripts::value_type& script, std::size_t first,
                           bool is_read_only) {
  const auto words = script_arguments::read(outer, first);
  if (!words) return;
  const auto& [digest, kept] = script;
  const auto why = kept.has_head ? script_commands::refusal(outer, kept.flags, is_read_only)
                                 : script_commands::staleness(outer);
  if (!why.empty()) {
    outer.fail(why);
    return;
  }
  script_commands::turn turn(commands_, outer, rules_of(kept.flags, is_read_only));
  room_->run(kept.body, words->keys, words->others,
             [&](script::value_view value, const script::failure_place* failed) {
               turn.reply(digest, value, failed);
             });
}

evaluator::figures script_evaluator::counted() {
  return {.scripts = scripts_.size(),
          .script_memory = room_ ? room_->memory() : 0,
          .libraries = functions_.count(),
          .functions = functions_.function_count(),
          .function_memory = functions_.memory()};
}

}  // namespace strata::runtime::cache
