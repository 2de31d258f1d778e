// Values of a script as JSON, and back. A string may hold any bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

struct lua_State;

namespace strata::script {

/// How deep tables may lie in each other.
inline constexpr int most_depth = 64;
/// How many values a table may hold in all.
inline constexpr std::size_t most_values = 1U << 20U;

/// Makes the tables that mark arrays; once for each machine, before the rest.
void prepare_conversion(lua_State* state);
/// Pushes the value. Room on the stack is made. Raises an error of the script when memory runs out.
void push_json(lua_State* state, const nlohmann::json& value);
/// The value at `index` of the stack. Errors (in words): what it holds that JSON has not.
[[nodiscard]] bool read_json(lua_State* state, int index, nlohmann::json& value, std::string& why);
/// Marks the table on top of the stack as an array, though it be empty.
void mark_array(lua_State* state);
/// Pushes what stands for JSON's null within tables.
void push_null(lua_State* state);

}  // namespace strata::script
