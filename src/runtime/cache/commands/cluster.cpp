// The commands of Redis's cluster. A cache is not a cluster node, and replies so, which clients
// that ask accept.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

void refuse(call& c) { c.fail("ERR This instance has cluster support disabled"); }

// clang-format off
const command_row cluster_rows[] = {
    {"addslots", -3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "take slots", refuse},
    {"addslotsrange", -4, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "7.0.0",
     "take ranges of slots", refuse},
    {"bumpepoch", 2, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "raise the epoch", refuse},
    {"count-failure-reports", 3, "admin stale", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "how many nodes say that one has failed", refuse},
    {"countkeysinslot", 3, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "how many keys a slot has", refuse},
    {"delslots", -3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "give slots up", refuse},
    {"delslotsrange", -4, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "7.0.0",
     "give ranges of slots up", refuse},
    {"failover", -2, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "let a follower take over", refuse},
    {"flushslots", 2, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "give all slots up", refuse},
    {"forget", 3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "remove a node", refuse},
    {"getkeysinslot", 4, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "keys of a slot", refuse},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "5.0.0",
     "what CLUSTER can do", refuse},
    {"info", 2, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "the state of the cluster", refuse},
    {"keyslot", 3, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "the slot of a key", refuse},
    {"links", 2, "stale", {0, 0, 0},
     "", "", "7.0.0",
     "connections to other nodes", refuse},
    {"meet", -4, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "add a node", refuse},
    {"myid", 2, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "the name of this node", refuse},
    {"nodes", 2, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "all nodes", refuse},
    {"replicas", 3, "admin stale", {0, 0, 0},
     "", "admin dangerous", "5.0.0",
     "the followers of a node", refuse},
    {"replicate", 3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "follow a node", refuse},
    {"reset", -2, "admin noscript stale", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "leave the cluster", refuse},
    {"saveconfig", 2, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "write the cluster's state", refuse},
    {"set-config-epoch", 3, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "set the epoch", refuse},
    {"setslot", -4, "admin stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "give a slot to a node", refuse},
    {"shards", 2, "stale", {0, 0, 0},
     "", "", "7.0.0",
     "which nodes have which slots", refuse},
    {"slaves", 3, "admin stale", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "the followers of a node", refuse},
    {"slots", 2, "stale", {0, 0, 0},
     "", "", "3.0.0",
     "which nodes have which slots", refuse},
};

const command_row cluster_group_rows[] = {
    {"asking", 1, "fast", {0, 0, 0},
     "", "connection", "3.0.0",
     "follow a redirection to a slot that moves", refuse},
    {"cluster", -2, "", {0, 0, 0},
     "", "", "3.0.0",
     "look at a cluster and change it", nullptr, cluster_rows},
    {"readonly", 1, "loading stale fast", {0, 0, 0},
     "", "connection", "3.0.0",
     "read from a follower in a cluster", refuse},
    {"readwrite", 1, "loading stale fast", {0, 0, 0},
     "", "connection", "3.0.0",
     "read from leaders alone in a cluster", refuse},
};
// clang-format on

}  // namespace

command_group cluster_commands() { return {"cluster", cluster_group_rows}; }

}  // namespace strata::runtime::cache
