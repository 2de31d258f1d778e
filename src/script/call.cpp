#include "script/call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "script/conversion.hpp"
#include "script/library.hpp"
#include "script/lua.hpp"
#include "script/machine.hpp"
#include "text/utf8.hpp"

namespace strata::script {

namespace {

bool is_utf8(const nlohmann::json& value) {
  if (value.is_string()) return text::is_utf8(value.get_ref<const std::string&>());
  if (!value.is_structured()) return true;
  return std::ranges::all_of(value.items(), [](const auto& each) {
    return text::is_utf8(each.key()) && is_utf8(each.value());
  });
}

}  // namespace

value_ref::value_ref(value_ref&& other) noexcept
    : in_(std::exchange(other.in_, nullptr)), reference_(other.reference_) {}

value_ref& value_ref::operator=(value_ref&& other) noexcept {
  std::swap(in_, other.in_);
  std::swap(reference_, other.reference_);
  return *this;
}

value_ref::~value_ref() {
  if (in_ != nullptr) luaL_unref(in_, LUA_REGISTRYINDEX, reference_);
}

int call::count() const { return lua_gettop(state_) - given_; }

bool call::has(int index) const { return index < count() && !lua_isnil(state_, index + 1); }

bool call::truth(int index) const { return has(index) && lua_toboolean(state_, index + 1) != 0; }

double call::number(int index) const { return lua_tonumber(state_, index + 1); }

std::uint64_t call::integer(int index) const {
  return static_cast<std::uint64_t>(lua_tonumber(state_, index + 1));
}

std::string_view call::text(int index) const {
  if (index >= count()) return {};
  std::size_t size = 0;
  const char* const text = lua_tolstring(state_, index + 1, &size);
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

bool call::is_text(int index) const {
  return index < count() && lua_isstring(state_, index + 1) != 0;
}
bool call::is_table(int index) const { return index < count() && lua_istable(state_, index + 1); }

std::string call::shown(int index) const {
  lua_getglobal(state_, "tostring");
  lua_pushvalue(state_, index + 1);
  lua_call(state_, 1, 1);
  std::size_t size = 0;
  const char* const text = lua_tolstring(state_, -1, &size);
  std::string all = text == nullptr ? std::string("?") : std::string(text, size);
  lua_pop(state_, 1);
  return all;
}

bool call::structure(int index, nlohmann::json& value) {
  std::string why;
  if (read_json(state_, index + 1, value, why)) return true;
  fail_argument(index, why);
  return false;
}

bool call::json_structure(int index, nlohmann::json& value) {
  if (!structure(index, value)) return false;
  if (is_utf8(value)) return true;
  fail_argument(index, "it holds a string that is not UTF-8: encode it with strata.base64.encode");
  return false;
}

void call::fail_argument(int index, std::string_view reason) {
  const auto position = static_cast<std::size_t>(index);
  const bool is_named = position < parameters_.size() && parameters_[position].name != "...";
  fail(fmt::format("argument {}{} cannot be taken: {}", index + 1,
                   is_named ? fmt::format(" ({})", parameters_[position].name) : "", reason));
}

value_ref call::function(int index) const {
  lua_pushvalue(state_, index + 1);
  return {machine_.state(), luaL_ref(state_, LUA_REGISTRYINDEX)};
}

value_ref call::keep_given() const {
  lua_pushvalue(state_, -1);
  return {machine_.state(), luaL_ref(state_, LUA_REGISTRYINDEX)};
}

void call::drop_arguments() { lua_settop(state_, 0); }

void call::give_nothing() {
  lua_pushnil(state_);
  ++given_;
}

void call::give(bool value) {
  lua_pushboolean(state_, value ? 1 : 0);
  ++given_;
}

void call::give(double value) {
  lua_pushnumber(state_, value);
  ++given_;
}

void call::give(std::string_view value) {
  lua_pushlstring(state_, value.data(), value.size());
  ++given_;
}

void call::give(const nlohmann::json& value) {
  push_json(state_, value);
  ++given_;
}

void call::take_back() {
  lua_pop(state_, 1);
  --given_;
}

void call::replace_given(int index, double value) {
  lua_pushnumber(state_, value);
  lua_replace(state_, lua_gettop(state_) - given_ + index);
}

bool call::give_object(const object_kind& kind, std::shared_ptr<object> object, void* self) {
  if (!machine_.objects().has_room(state_)) {
    fail("the script holds " + std::to_string(machine_.how().most_objects) +
         " objects already: close some and drop the references to them");
    return false;
  }
  machine_.objects().push(state_, kind, std::move(object), self);
  ++given_;
  return true;
}

void call::refuse(std::string_view why) {
  give_nothing();
  give(why);
}

void call::give_as_array(int index) {
  lua_pushvalue(state_, index + 1);
  mark_array(state_);
  ++given_;
}

}  // namespace strata::script
