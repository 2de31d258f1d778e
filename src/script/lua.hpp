// Lua's C API, for the files of this folder alone.
#pragma once

// NOLINTBEGIN(modernize-deprecated-headers)
extern "C" {
#include <lauxlib.h>
#include <lua.h>
#include <lua5.1/lua-cjson.h>
#include <luajit.h>
#include <lualib.h>
}
// NOLINTEND(modernize-deprecated-headers)
