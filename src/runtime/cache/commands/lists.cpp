// Commands on one list.
#include "runtime/cache/commands/collections.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/values/index_range.hpp"
#include "runtime/cache/values/list_value.hpp"

namespace strata::runtime::cache {

namespace {

void push(call& c, bool at_front, bool only_if_there) {
  list_value* list = nullptr;
  if (only_if_there) {
    const auto found = c.find_as<list_value>(1);
    if (!found) return;
    if (*found == nullptr) {
      c.reply.integer(0);
      return;
    }
    list = *found;
  } else {
    list = c.make_as<list_value>(1);
    if (list == nullptr) return;
  }
  const auto fill = c.home().settings().list_max_pack_size;
  for (const auto& each : c.words.subspan(2)) list->push(each, at_front, fill);
  c.reply.integer(static_cast<std::int64_t>(list->size()));
  c.changed(c[1], event_list, at_front ? "lpush" : "rpush", c.size() - 2);
}

void lpush(call& c) { push(c, true, false); }
void rpush(call& c) { push(c, false, false); }
void lpushx(call& c) { push(c, true, true); }
void rpushx(call& c) { push(c, false, true); }

void pop(call& c, bool at_front) {
  if (c.size() > 3) {
    c.fail_arity();
    return;
  }
  std::int64_t count = 1;
  if (c.size() == 3) {
    const auto wanted = text::parse_integer(c[2]);
    if (!wanted || *wanted < 0) {
      c.fail("ERR value is out of range, must be positive");
      return;
    }
    count = *wanted;
  }
  const auto found = c.find_as<list_value>(1);
  if (!found) return;
  list_value* const list = *found;
  if (list == nullptr) {
    if (c.size() == 3) {
      c.reply.null_array();
    } else {
      c.reply.null();
    }
    return;
  }
  if (c.size() == 3) {
    count = std::min(count, static_cast<std::int64_t>(list->size()));
    c.reply.array(static_cast<std::uint64_t>(count));
    if (count == 0) return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    c.reply.bulk(list->end(at_front).text());
    list->pop(at_front);
  }
  c.changed(c[1], event_list, at_front ? "lpop" : "rpop", static_cast<std::uint64_t>(count));
  c.drop_if_empty(1, *list);
}

void lpop(call& c) { pop(c, true); }
void rpop(call& c) { pop(c, false); }

void llen(call& c) { reply_size<list_value>(c); }

void lindex(call& c) {
  const auto found = c.read_as<list_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    c.reply.null();
    return;
  }
  const auto index = c.integer(2);
  if (!index) return;
  const auto where = (*found)->seek(*index);
  if (where) {
    c.reply.bulk((*found)->at(where).text());
  } else {
    c.reply.null();
  }
}

void lset(call& c) {
  const auto found = c.find_as<list_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    c.fail(no_key_error);
    return;
  }
  const auto index = c.integer(2);
  if (!index) return;
  const auto where = (*found)->seek(*index);
  if (!where) {
    c.fail("ERR index out of range");
    return;
  }
  (*found)->replace(where, c[3]);
  c.reply.ok();
  c.changed(c[1], event_list, "lset");
}

// The range at words 2 and 3 of the list at word 1, which `open` returns. Nullopt after an error.
struct list_range {
  list_value* list;
  index_range what;
};
template <class Open>
std::optional<list_range> read_list_range(call& c, Open&& open) {
  const auto first = c.integer(2);
  const auto last = first ? c.integer(3) : std::nullopt;
  if (!last) return {};
  const std::optional<list_value*> found = open();
  if (!found) return {};
  return list_range{*found, clamp_range(*first, *last, *found == nullptr ? 0 : (*found)->size())};
}

void lrange(call& c) {
  const auto found = read_list_range(c, [&] { return c.read_as<list_value>(1); });
  if (!found) return;
  const auto& [list, range] = *found;
  c.reply.array(range.count);
  if (range.count == 0) return;
  auto where = list->seek(static_cast<std::int64_t>(range.first));
  for (std::size_t i = 0; i < range.count; ++i) {
    c.reply.bulk(list->at(where).text());
    where = list->next(where);
  }
}

void ltrim(call& c) {
  const auto found = read_list_range(c, [&] { return c.find_as<list_value>(1); });
  if (!found) return;
  c.reply.ok();
  if (found->list == nullptr) return;
  auto& list = *found->list;
  const auto& range = found->what;
  const auto before = list.size();
  const auto behind = range.first + range.count;
  if (range.count == 0) {
    list.erase_range(0, list.size());
  } else {
    list.erase_range(behind, list.size() - behind);
    list.erase_range(0, range.first);
  }
  c.changed(c[1], event_list, "ltrim", before - list.size());
  c.drop_if_empty(1, list);
}

void linsert(call& c) {
  const bool before = c.is(2, "BEFORE");
  if (!before && !c.is(2, "AFTER")) {
    c.fail_syntax();
    return;
  }
  const auto found = c.find_as<list_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    c.reply.integer(0);
    return;
  }
  auto& list = **found;
  const auto fill = c.home().settings().list_max_pack_size;
  for (auto where = list.first(); where; where = list.next(where)) {
    if (!list.equals(where, c[3])) continue;
    list.insert(where, c[4], !before, fill);
    c.reply.integer(static_cast<std::int64_t>(list.size()));
    c.changed(c[1], event_list, "linsert");
    return;
  }
  c.reply.integer(-1);
}

void lrem(call& c) {
  const auto count = c.integer(2);
  if (!count) return;
  const auto found = c.find_as<list_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    c.reply.integer(0);
    return;
  }
  auto& list = **found;
  const auto most = *count == 0  ? UINT64_MAX
                    : *count < 0 ? 0 - static_cast<std::uint64_t>(*count)
                                 : static_cast<std::uint64_t>(*count);
  std::uint64_t removed = 0;
  if (*count >= 0) {
    for (auto where = list.first(); where && removed < most;) {
      const bool same = list.equals(where, c[3]);
      where = same ? list.erase(where) : list.next(where);
      removed += same ? 1 : 0;
    }
  } else {
    for (auto where = list.seek(-1); where && removed < most;) {
      const bool same = list.equals(where, c[3]);
      where = same ? list.erase_backwards(where) : list.previous(where);
      removed += same ? 1 : 0;
    }
  }
  c.reply.integer(static_cast<std::int64_t>(removed));
  if (removed == 0) return;
  c.changed(c[1], event_list, "lrem", removed);
  c.drop_if_empty(1, list);
}

struct lpos_options {
  std::int64_t rank = 1;
  std::int64_t most = 0;  // matches; 0: all
  std::int64_t look_at = 0;
  bool wants_list = false;
};

std::optional<lpos_options> read_lpos_options(call& c) {
  lpos_options read;
  for (std::size_t i = 3; i < c.size(); i += 2) {
    const bool has_value = i + 1 < c.size();
    if (c.is(i, "RANK") && has_value) {
      const auto rank = c.integer(i + 1);
      if (!rank) return {};
      if (*rank == 0) {
        c.fail(
            "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... "
            "or use negative to start from the end of the list");
        return {};
      }
      // The lowest number has no negation, so that in Redis every match from the end on counts.
      read.rank = *rank == INT64_MIN ? -1 : *rank;
    } else if (c.is(i, "COUNT") && has_value) {
      const auto count = text::parse_integer(c[i + 1]);
      if (!count || *count < 0) {
        c.fail("ERR COUNT can't be negative");
        return {};
      }
      read.most = *count;
      read.wants_list = true;
    } else if (c.is(i, "MAXLEN") && has_value) {
      const auto most = text::parse_integer(c[i + 1]);
      if (!most || *most < 0) {
        c.fail("ERR MAXLEN can't be negative");
        return {};
      }
      read.look_at = *most;
    } else {
      c.fail_syntax();
      return {};
    }
  }
  return read;
}

void lpos(call& c) {
  const auto options = read_lpos_options(c);
  if (!options) return;
  const auto found = c.read_as<list_value>(1);
  if (!found) return;
  const list_value* const list = *found;
  const bool backwards = options->rank < 0;
  std::vector<std::int64_t> positions;
  if (list != nullptr) {
    const auto size = static_cast<std::int64_t>(list->size());
    const auto most = options->wants_list ? options->most : 1;
    auto skip = (backwards ? -options->rank : options->rank) - 1;
    auto where = list->seek(backwards ? -1 : 0);
    for (std::int64_t seen = 0; where && (options->look_at == 0 || seen < options->look_at);
         ++seen) {
      if (list->equals(where, c[2]) && skip-- <= 0) {
        positions.push_back(backwards ? size - 1 - seen : seen);
        if (most != 0 && static_cast<std::int64_t>(positions.size()) == most) break;
      }
      where = backwards ? list->previous(where) : list->next(where);
    }
  }
  if (options->wants_list) {
    c.reply.array(positions.size());
    for (const auto each : positions) c.reply.integer(each);
  } else if (positions.empty()) {
    c.reply.null();
  } else {
    c.reply.integer(positions[0]);
  }
}

// clang-format off
const command_row list_rows[] = {
    {"lindex", 3, "readonly", {1, 1, 1},
     "RO access 1 0 1", "list", "1.0.0",
     "returns the element at an index", lindex},
    {"linsert", 5, "write denyoom", {1, 1, 1},
     "RW insert 1 0 1", "list", "2.2.0",
     "inserts an element before or after another element", linsert},
    {"llen", 2, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "list", "1.0.0",
     "returns the number of elements of a list", llen},
    {"lpop", -2, "write fast", {1, 1, 1},
     "RW access delete 1 0 1", "list", "1.0.0",
     "removes and returns the first elements of a list", lpop},
    {"lpos", -3, "readonly", {1, 1, 1},
     "RO access 1 0 1", "list", "6.0.6",
     "returns the index of an element", lpos},
    {"lpush", -3, "write denyoom fast", {1, 1, 1},
     "RW insert 1 0 1", "list", "1.0.0",
     "inserts elements at the front of a list", lpush},
    {"lpushx", -3, "write denyoom fast", {1, 1, 1},
     "RW insert 1 0 1", "list", "2.2.0",
     "inserts elements at the front of an existing list", lpushx},
    {"lrange", 4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "list", "1.0.0",
     "returns a range of a list", lrange},
    {"lrem", 4, "write", {1, 1, 1},
     "RW delete 1 0 1", "list", "1.0.0",
     "removes elements that equal a value", lrem},
    {"lset", 4, "write denyoom", {1, 1, 1},
     "RW update 1 0 1", "list", "1.0.0",
     "sets the element at an index", lset},
    {"ltrim", 4, "write", {1, 1, 1},
     "RW delete 1 0 1", "list", "1.0.0",
     "removes all elements outside a range of a list", ltrim},
    {"rpop", -2, "write fast", {1, 1, 1},
     "RW access delete 1 0 1", "list", "1.0.0",
     "removes and returns the last elements of a list", rpop},
    {"rpush", -3, "write denyoom fast", {1, 1, 1},
     "RW insert 1 0 1", "list", "1.0.0",
     "appends elements to a list", rpush},
    {"rpushx", -3, "write denyoom fast", {1, 1, 1},
     "RW insert 1 0 1", "list", "2.2.0",
     "appends elements to an existing list", rpushx},
};
// clang-format on

}  // namespace

command_group list_commands() { return {"list", list_rows}; }

}  // namespace strata::runtime::cache
