// The commands of Redis's cluster and of its modules. A cache is not a cluster node and loads no
// modules, and replies so, which clients that ask accept.
#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

void refuse(call& c) { c.fail("ERR This instance has cluster support disabled"); }

// --- MODULE

void module_list(call& c) { c.reply.array(0); }

// In the words of a Redis whose configuration does not enable it.
void refuse_module(call& c) {
  c.fail(
      "ERR MODULE command not allowed. If the enable-module-command option is set to \"local\", "
      "you can run it from a local connection, otherwise you need to set this option in the "
      "configuration file, and then restart the server.");
}

void module_help(call& c) {
  constexpr std::array<std::string_view, 5> lines = {
      "MODULE <subcommand>. Subcommands are:", "LIST -- returns the loaded modules: none.",
      "LOAD <path> [<argument> ...] -- is refused.",
      "LOADEX <path> [CONFIG <name> <value> ...] [ARGS <argument> ...] -- is refused.",
      "UNLOAD <name> -- is refused."};
  c.reply_lines(lines);
}

// clang-format off
const command_row cluster_rows[] = {
    {"addslots", -3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "assigns slots to this node", refuse},
    {"addslotsrange", -4, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "7.0.0",
     "assigns ranges of slots to this node", refuse},
    {"bumpepoch", 2, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "increments the configuration epoch", refuse},
    {"count-failure-reports", 3, "admin stale", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "returns the number of nodes that report a node as failed", refuse},
    {"countkeysinslot", 3, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "returns the number of keys in a slot", refuse},
    {"delslots", -3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "removes slots from this node", refuse},
    {"delslotsrange", -4, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "7.0.0",
     "removes ranges of slots from this node", refuse},
    {"failover", -2, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "promotes a follower to leader", refuse},
    {"flushslots", 2, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "removes all slots from this node", refuse},
    {"forget", 3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "removes a node from the cluster", refuse},
    {"getkeysinslot", 4, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "returns keys of a slot", refuse},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "5.0.0",
     "lists the subcommands of CLUSTER", refuse},
    {"info", 2, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "returns the state of the cluster", refuse},
    {"keyslot", 3, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "returns the slot of a key", refuse},
    {"links", 2, "stale", {0, 0, 0},
     "", "", "7.0.0",
     "returns the connections to other nodes", refuse},
    {"meet", -4, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "adds a node to the cluster", refuse},
    {"myid", 2, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "returns the ID of this node", refuse},
    {"myshardid", 2, "stale", {0, 0, 0},
     "", "", "7.2.0",
     "returns the ID of this node's shard", refuse},
    {"nodes", 2, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "returns all nodes of the cluster", refuse},
    {"replicas", 3, "admin stale", {0, 0, 0},
     "", "admin dangerous", "5.0.0",
     "returns the followers of a node", refuse},
    {"replicate", 3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "makes this node a follower of another node", refuse},
    {"reset", -2, "admin noscript stale", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "removes this node from the cluster", refuse},
    {"saveconfig", 2, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "writes the state of the cluster to disk", refuse},
    {"set-config-epoch", 3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "sets the configuration epoch", refuse},
    {"setslot", -4, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "assigns a slot to a node", refuse},
    {"shards", 2, "stale", {0, 0, 0},
     "", "", "7.0.0",
     "returns the slots of the nodes, by shard", refuse},
    {"slaves", 3, "admin stale", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "returns the followers of a node", refuse},
    {"slot-stats", -4, "loading stale", {0, 0, 0},
     "", "", "8.2.0",
     "returns what is measured of this node's slots", refuse},
    {"slots", 2, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "returns the slots and their nodes", refuse},
};

const command_row cluster_group_rows[] = {
    {"asking", 1, "fast", {0, 0, 0},
     "", "connection", "3.0.0",
     "announces a command that follows an ASK redirection", refuse},
    {"cluster", -2, "", {0, 0, 0},
     "", "", "3.0.0",
     "inspects and manages a cluster", nullptr, cluster_rows},
    {"readonly", 1, "loading stale fast", {0, 0, 0},
     "", "connection", "3.0.0",
     "permits reads from a follower in a cluster", refuse},
    {"readwrite", 1, "loading stale fast", {0, 0, 0},
     "", "connection", "3.0.0",
     "restricts reads in a cluster to leaders", refuse},
};

const command_row module_rows[] = {
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "5.0.0",
     "lists the subcommands of MODULE", module_help},
    {"list", 2, "admin noscript", {0, 0, 0},
     "", "admin dangerous", "4.0.0",
     "returns the loaded modules: a cache has none", module_list},
    {"load", -3, "admin noscript no_async_loading", {0, 0, 0},
     "", "admin dangerous", "4.0.0",
     "is refused: a cache loads no modules", refuse_module},
    {"loadex", -3, "admin noscript no_async_loading", {0, 0, 0},
     "", "admin dangerous", "7.0.0",
     "is refused: a cache loads no modules", refuse_module},
    {"unload", 3, "admin noscript no_async_loading", {0, 0, 0},
     "", "admin dangerous", "4.0.0",
     "is refused: a cache loads no modules", refuse_module},
};

const command_row module_group_rows[] = {
    {"module", -2, "", {0, 0, 0},
     "", "", "4.0.0",
     "reports modules", nullptr, module_rows},
};
// clang-format on

}  // namespace

command_group module_commands() { return {"server", module_group_rows}; }
command_group cluster_commands() { return {"cluster", cluster_group_rows}; }

}  // namespace strata::runtime::cache
