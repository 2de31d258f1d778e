// Commands that delete a key if it has a certain value: DELEX of Redis 8.4 and DELIFEQ of Valkey 9.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

// Deletes the key at word 1, which may not exist, if it `is_wanted`.
void delete_if(call& c, entry* entry, bool is_wanted) {
  if (entry == nullptr || !is_wanted) {
    c.reply.integer(0);
    return;
  }
  c.propagate_as("DEL", c[1]);
  c.keys().changes().record();
  c.remove(entry, c.hash(1));
  c.reply.integer(1);
}

bool has_value(const entry* entry, std::string_view value) {
  return entry != nullptr && string_view_of(*entry).view() == value;
}

void delex(call& c) {
  if (c.size() != 2 && c.size() != 4) {
    c.fail_arity();
    return;
  }
  entry* const found = c.find(1);
  if (c.size() == 2) {
    delete_if(c, found, true);
    return;
  }
  const bool is_equal = c.is(2, "IFEQ");
  if (!is_equal && !c.is(2, "IFNE")) {
    c.fail("ERR Invalid condition. Use IFEQ or IFNE");
    return;
  }
  if (found != nullptr && !found->is_string()) {
    c.fail("ERR Key should be of string type if conditions are specified");
    return;
  }
  delete_if(c, found, has_value(found, c[3]) == is_equal);
}

void delifeq(call& c) {
  const auto found = c.open_string(c.find(1));
  if (found) delete_if(c, *found, has_value(*found, c[2]));
}

// clang-format off
const command_row conditional_deletion_rows[] = {
    {"delex", -2, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "string", "8.4.0",
     "deletes a key, if its value is, or is not, a given one", delex},
    {"delifeq", 3, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "string", "9.0.0",
     "deletes a key if its value is a given one", delifeq},
};
// clang-format on

}  // namespace

command_group conditional_deletion_commands() { return {"string", conditional_deletion_rows}; }

}  // namespace strata::runtime::cache
