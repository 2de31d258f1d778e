// Commands that take elements from one of several lists, move them, or wait for them.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/pops.hpp"
#include "runtime/cache/values/list_value.hpp"

namespace strata::runtime::cache {

namespace {

std::optional<bool> read_end(call& c, std::size_t index) {
  if (c.is(index, "LEFT")) return true;
  if (c.is(index, "RIGHT")) return false;
  c.fail_syntax();
  return {};
}

std::string_view name_of_end(bool at_front) { return at_front ? "LEFT" : "RIGHT"; }

enum class moved : std::uint8_t { yes, nothing_there, failed };

// Moves one element from the list at word 1 to the list at word 2.
moved move_element(call& c, bool from_front, bool to_front) {
  entry* const there = c.find(1);
  // A client that waits for a list continues to wait if a value of another type appears there.
  if (c.who.waiting && there != nullptr && there->type() != list_value::kind) {
    return moved::nothing_there;
  }
  const auto source = c.open<list_value>(there);
  if (!source) return moved::failed;
  if (*source == nullptr) return moved::nothing_there;
  list_value* const to = c.make_as<list_value>(2);
  if (to == nullptr) return moved::failed;
  list_value& from = **source;
  const std::string text(from.end(from_front).text());
  from.pop(from_front);
  to->push(text, to_front, c.home().settings().list_max_pack_size);
  c.reply.bulk(text);
  c.changed(c[2], event_list, to_front ? "lpush" : "rpush");
  c.changed(c[1], event_list, from_front ? "lpop" : "rpop", 0);
  c.drop_if_empty(1, from);
  c.propagate_as("LMOVE", c[1], c[2], name_of_end(from_front), name_of_end(to_front));
  return moved::yes;
}

void move_now(call& c, bool from_front, bool to_front) {
  if (move_element(c, from_front, to_front) == moved::nothing_there) c.reply.null();
}

void lmove(call& c) {
  const auto from = read_end(c, 3);
  const auto to = from ? read_end(c, 4) : std::nullopt;
  if (to) move_now(c, *from, *to);
}

void rpoplpush(call& c) { move_now(c, false, true); }

void move_or_wait(call& c, bool from_front, bool to_front, std::size_t timeout) {
  std::optional<std::int64_t> deadline_ms;
  if (!c.parse_timeout(timeout, deadline_ms)) return;
  if (move_element(c, from_front, to_front) != moved::nothing_there) return;
  if (c.may_block()) {
    c.wait_for(c.words.subspan(1, 1), deadline_ms,
               [](front&, client& client) { client.reply().null(); });
  } else {
    c.reply.null();
  }
}

void blmove(call& c) {
  const auto from = read_end(c, 3);
  const auto to = from ? read_end(c, 4) : std::nullopt;
  if (to) move_or_wait(c, *from, *to, 5);
}

void brpoplpush(call& c) { move_or_wait(c, false, true, 3); }

void pop_or_wait(call& c, bool at_front) {
  std::optional<std::int64_t> deadline_ms;
  if (!c.parse_timeout(c.size() - 1, deadline_ms)) return;
  const auto found = find_first<list_value>(c, 1, c.size() - 2);
  if (!found) return;
  if (found->value == nullptr) {
    wait_or_null(c, 1, c.size() - 2, deadline_ms);
    return;
  }
  const auto key = c[found->index];
  c.reply.array(2);
  c.reply.bulk(key);
  c.reply.bulk(found->value->end(at_front).text());
  found->value->pop(at_front);
  c.changed(key, event_list, at_front ? "lpop" : "rpop");
  c.propagate_as(at_front ? "LPOP" : "RPOP", key);
  c.drop_if_empty(found->index, *found->value);
}

void blpop(call& c) { pop_or_wait(c, true); }
void brpop(call& c) { pop_or_wait(c, false); }

// Returns false if all are empty.
bool pop_many(call& c, const multi_pop& pop, std::size_t first) {
  const auto found = find_first<list_value>(c, first, pop.keys);
  if (!found) return true;
  if (found->value == nullptr) return false;
  auto& list = *found->value;
  const auto key = c[found->index];
  const auto count =
      std::min(static_cast<std::uint64_t>(pop.count), static_cast<std::uint64_t>(list.size()));
  c.reply.array(2);
  c.reply.bulk(key);
  c.reply.array(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    c.reply.bulk(list.end(pop.at_first_end).text());
    list.pop(pop.at_first_end);
  }
  c.changed(key, event_list, pop.at_first_end ? "lpop" : "rpop", count);
  c.propagate_as(pop.at_first_end ? "LPOP" : "RPOP", key,
                 text::integer_text(static_cast<std::int64_t>(count)).view());
  c.drop_if_empty(found->index, list);
  return true;
}

void lmpop(call& c) {
  const auto how = read_multi_pop(c, 1, "LEFT", "RIGHT");
  if (how && !pop_many(c, *how, 2)) c.reply.null_array();
}

void blmpop(call& c) {
  const auto how = read_multi_pop(c, 2, "LEFT", "RIGHT");
  std::optional<std::int64_t> deadline_ms;
  if (!how || !c.parse_timeout(1, deadline_ms)) return;
  if (!pop_many(c, *how, 3)) wait_or_null(c, 3, how->keys, deadline_ms);
}

// clang-format off
const command_row list_move_rows[] = {
    {"blmove", 6, "write denyoom noscript blocking", {1, 2, 1},
     "RW access delete 1 0 1; RW insert 2 0 1", "list blocking", "6.2.0",
     "moves an element between lists; waits if the source is empty", blmove},
    {"blmpop", -5, "write blocking movablekeys", {0, 0, 0},
     "RW access delete 2 n0 1 1", "list blocking", "7.0.0",
     "removes and returns elements of the first list that is not empty; waits if all are empty",
     blmpop},
    {"blpop", -3, "write noscript blocking", {1, -2, 1},
     "RW access delete 1 -2 1", "list blocking", "2.0.0",
     "removes and returns the first element of a list; waits if all lists are empty", blpop},
    {"brpop", -3, "write noscript blocking", {1, -2, 1},
     "RW access delete 1 -2 1", "list blocking", "2.0.0",
     "removes and returns the last element of a list; waits if all lists are empty", brpop},
    {"brpoplpush", 4, "write denyoom noscript blocking", {1, 2, 1},
     "RW access delete 1 0 1; RW insert 2 0 1", "list blocking", "2.2.0",
     "moves the last element to the front of another list; waits if the source is empty",
     brpoplpush},
    {"lmove", 5, "write denyoom", {1, 2, 1},
     "RW access delete 1 0 1; RW insert 2 0 1", "list", "6.2.0",
     "moves an element between lists", lmove},
    {"lmpop", -4, "write movablekeys", {0, 0, 0},
     "RW access delete 1 n0 1 1", "list", "7.0.0",
     "removes and returns elements of the first list that is not empty", lmpop},
    {"rpoplpush", 3, "write denyoom", {1, 2, 1},
     "RW access delete 1 0 1; RW insert 2 0 1", "list", "1.2.0",
     "moves the last element to the front of another list", rpoplpush},
};
// clang-format on

}  // namespace

command_group list_move_commands() { return {"list", list_move_rows}; }

}  // namespace strata::runtime::cache
