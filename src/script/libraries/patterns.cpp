#include "script/libraries/patterns.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "script/libraries/pattern_matcher.hpp"
#include "script/lua.hpp"
#include "script/machine.hpp"

namespace strata::script {

namespace {

std::string_view text_at(lua_State* state, int index) {
  std::size_t size = 0;
  const char* const text = luaL_checklstring(state, index, &size);
  return {text, size};
}

auto time_check(lua_State* state) {
  return [state] { machine::of(state).limits().check_time(state); };
}

// Converts a malformed pattern to an error of the script. `pattern_error` itself must not reach
// Lua.
template <class Work>
int guarded(lua_State* state, Work work) {
  std::string trouble;
  try {
    return work();
  } catch (const pattern_error& wrong) {
    trouble = wrong.what;
  }
  return luaL_error(state, "%s", trouble.c_str());
}

void push_capture(lua_State* state, const pattern_matcher& matcher, int index,
                  std::string_view subject, std::size_t begin, std::size_t end) {
  if (index >= matcher.captures()) {
    if (index != 0) throw pattern_error{"invalid capture index"};
    lua_pushlstring(state, subject.data() + begin, end - begin);
    return;
  }
  const auto& one = matcher.captured(index);
  if (one.size == pattern_matcher::open) throw pattern_error{"unfinished capture"};
  if (one.size == pattern_matcher::position) {
    lua_pushinteger(state, static_cast<lua_Integer>(one.begin) + 1);
  } else {
    lua_pushlstring(state, subject.data() + one.begin, static_cast<std::size_t>(one.size));
  }
}

// Pushes the captures; the whole match if there are none and `is_whole`.
int push_captures(lua_State* state, const pattern_matcher& matcher, bool is_whole,
                  std::string_view subject, std::size_t begin, std::size_t end) {
  const int count = matcher.captures() == 0 && is_whole ? 1 : matcher.captures();
  luaL_checkstack(state, count, "too many captures");
  for (int which = 0; which < count; ++which) {
    push_capture(state, matcher, which, subject, begin, end);
  }
  return count;
}

// Returns where a search begins, from 0; a value beyond the end finds nothing.
std::size_t first_place(lua_State* state, int index, std::size_t size) {
  auto place = static_cast<std::ptrdiff_t>(luaL_optinteger(state, index, 1));
  if (place < 0) place += static_cast<std::ptrdiff_t>(size) + 1;
  return place <= 0 ? 0 : static_cast<std::size_t>(place - 1);
}

int find_plain(lua_State* state, std::string_view subject, std::string_view text,
               std::size_t start) {
  const void* const found = text.empty() ? subject.data() + start
                                         : memmem(subject.data() + start, subject.size() - start,
                                                  text.data(), text.size());
  if (found == nullptr) return 0;
  const auto at = static_cast<const char*>(found) - subject.data();
  lua_pushinteger(state, at + 1);
  lua_pushinteger(state, at + static_cast<std::ptrdiff_t>(text.size()));
  return 2;
}

int search(lua_State* state, bool is_find) {
  const auto subject = text_at(state, 1);
  const auto pattern = text_at(state, 2);
  const auto from = first_place(state, 3, subject.size());
  const auto nothing = [state] {
    lua_pushnil(state);
    return 1;
  };
  if (from > subject.size()) return nothing();
  if (subject.size() >= much_at_once) machine::of(state).limits().expect_much();
  if (is_find && (lua_toboolean(state, 4) != 0 ||
                  pattern.find_first_of("^$*+?.([%-") == std::string_view::npos)) {
    const int found = find_plain(state, subject, pattern, from);
    return found == 0 ? nothing() : found;
  }
  return guarded(state, [&] {
    pattern_matcher by(subject, pattern, time_check(state));
    const bool is_anchored = pattern.starts_with('^');
    for (auto at = from; at <= subject.size(); ++at) {
      const auto end = by.match(at, is_anchored ? 1 : 0);
      if (end != pattern_matcher::none) {
        if (!is_find) return push_captures(state, by, true, subject, at, end);
        lua_pushinteger(state, static_cast<lua_Integer>(at) + 1);
        lua_pushinteger(state, static_cast<lua_Integer>(end));
        return 2 + push_captures(state, by, false, subject, at, end);
      }
      if (is_anchored) break;
    }
    return nothing();
  });
}

int find(lua_State* state) { return search(state, true); }
int match(lua_State* state) { return search(state, false); }

int next_match(lua_State* state) {
  const auto subject = text_at(state, lua_upvalueindex(1));
  const auto pattern = text_at(state, lua_upvalueindex(2));
  return guarded(state, [&] {
    pattern_matcher by(subject, pattern, time_check(state));
    auto at = static_cast<std::size_t>(lua_tointeger(state, lua_upvalueindex(3)));
    for (; at <= subject.size(); ++at) {
      const auto end = by.match(at);
      if (end == pattern_matcher::none) continue;
      lua_pushinteger(state, static_cast<lua_Integer>(end == at ? end + 1 : end));
      lua_replace(state, lua_upvalueindex(3));
      return push_captures(state, by, true, subject, at, end);
    }
    return 0;
  });
}

int all_matches(lua_State* state) {
  text_at(state, 1);
  text_at(state, 2);
  lua_settop(state, 2);
  lua_pushinteger(state, 0);
  lua_pushcclosure(state, next_match, 3);
  return 1;
}

class replacing {
 public:
  replacing(lua_State* state, std::string_view subject, std::string_view pattern)
      : state_(state), subject_(subject), by_(subject, pattern, time_check(state)) {
    const int kind = lua_type(state, 3);
    if (kind != LUA_TSTRING && kind != LUA_TNUMBER && kind != LUA_TTABLE && kind != LUA_TFUNCTION) {
      luaL_argerror(state, 3, "string/function/table expected");
    }
    if (kind == LUA_TSTRING || kind == LUA_TNUMBER) text_ = text_at(state, 3);
    kind_ = kind;
  }

  int run(bool is_anchored) {
    const auto most =
        lua_isnoneornil(state_, 4)
            ? subject_.size() + 1
            : static_cast<std::size_t>(std::max<lua_Integer>(luaL_checkinteger(state_, 4), 0));
    std::size_t at = 0;
    std::size_t count = 0;
    while (count < most) {
      const auto end = by_.match(at, is_anchored ? 1 : 0);
      if (end != pattern_matcher::none) {
        ++count;
        replace(at, end);
      }
      if (end != pattern_matcher::none && end > at) {
        at = end;
      } else if (at < subject_.size()) {
        done_ += subject_[at++];
      } else {
        break;
      }
      if (is_anchored) break;
    }
    if (at < subject_.size()) done_ += subject_.substr(at);
    lua_pushlstring(state_, done_.data(), done_.size());
    lua_pushinteger(state_, static_cast<lua_Integer>(count));
    return 2;
  }

 private:
  void replace(std::size_t offset, std::size_t end) {
    if (kind_ == LUA_TSTRING || kind_ == LUA_TNUMBER) {
      replace_by_text(offset, end);
    } else {
      machine::of(state_).limits().check_stack(state_);
      if (kind_ == LUA_TTABLE) {
        push_capture(state_, by_, 0, subject_, offset, end);
        lua_gettable(state_, 3);
      } else {
        lua_pushvalue(state_, 3);
        const int count = push_captures(state_, by_, true, subject_, offset, end);
        lua_call(state_, count, 1);
      }
      take_value(offset, end);
    }
    if (done_.size() > machine::of(state_).how().most_memory) {
      luaL_error(state_, "not enough memory");
    }
  }

  void take_value(std::size_t offset, std::size_t end) {
    if (lua_toboolean(state_, -1) == 0) {
      done_ += subject_.substr(offset, end - offset);
    } else if (lua_isstring(state_, -1) != 0) {
      done_ += text_at(state_, -1);
    } else {
      luaL_error(state_, "invalid replacement value (a %s)", luaL_typename(state_, -1));
    }
    lua_pop(state_, 1);
  }

  void replace_by_text(std::size_t offset, std::size_t end) {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] != '%' || i + 1 == text_.size()) {
        done_ += text_[i];
        continue;
      }
      const char what = text_[++i];
      if (what < '0' || what > '9') {
        done_ += what;
      } else if (what == '0') {
        done_ += subject_.substr(offset, end - offset);
      } else {
        push_capture(state_, by_, what - '1', subject_, offset, end);
        done_ += text_at(state_, -1);
        lua_pop(state_, 1);
      }
    }
  }

  lua_State* state_;
  std::string_view subject_;
  pattern_matcher by_;
  std::string_view text_;
  int kind_ = 0;
  std::string done_;
};

int replace(lua_State* state) {
  const auto subject = text_at(state, 1);
  const auto pattern = text_at(state, 2);
  return guarded(state, [&] {
    replacing one(state, subject, pattern);
    return one.run(pattern.starts_with('^'));
  });
}

int repeat(lua_State* state) {
  const auto text = text_at(state, 1);
  const auto wanted = luaL_checknumber(state, 2);
  const auto between = lua_isnoneornil(state, 3) ? std::string_view() : text_at(state, 3);
  if (wanted < 1 || text.size() + between.size() == 0) {
    lua_pushliteral(state, "");
    return 1;
  }
  const auto limit = machine::of(state).how().most_memory;
  if (wanted * static_cast<double>(text.size() + between.size()) > static_cast<double>(limit)) {
    return luaL_error(state, "not enough memory");
  }
  const auto times = static_cast<std::size_t>(wanted);
  const auto total = times * (text.size() + between.size()) - between.size();
  std::string all(text);
  all.reserve(total);
  if (times > 1) all += between;
  // Doubles the text each time.
  while (all.size() < total) all.append(all, 0, std::min(all.size(), total - all.size()));
  lua_pushlstring(state, all.data(), all.size());
  return 1;
}

}  // namespace

void open_patterns(lua_State* state) {
  static constexpr luaL_Reg functions[] = {{"find", find},          {"match", match},
                                           {"gmatch", all_matches}, {"gsub", replace},
                                           {"rep", repeat},         {nullptr, nullptr}};
  luaL_register(state, "string", functions);
  lua_pop(state, 1);
}

}  // namespace strata::script
