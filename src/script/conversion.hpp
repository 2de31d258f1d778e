// Converts values of a script to JSON, and back. A string may hold any bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

struct lua_State;

namespace strata::script {

/// The most nested tables.
inline constexpr int most_depth = 64;
/// The most values in a table, nested ones included.
inline constexpr std::size_t most_values = 1U << 20U;

/// Creates the tables that mark arrays; once for each machine, before the other functions.
void prepare_conversion(lua_State* state);
/// Pushes the value, making room on the stack. Raises an error of the script if memory runs out.
void push_json(lua_State* state, const nlohmann::json& value);
/// Reads the value at `index` of the stack. Returns false if JSON cannot represent it; `why` is
/// then the reason.
[[nodiscard]] bool read_json(lua_State* state, int index, nlohmann::json& value, std::string& why);
/// Marks the table on top of the stack as an array, even if it is empty.
void mark_array(lua_State* state);
/// Pushes the value that represents JSON's null within tables.
void push_null(lua_State* state);

}  // namespace strata::script
