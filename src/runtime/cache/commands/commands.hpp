// The command groups; each is a file of this folder.
#pragma once

#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

[[nodiscard]] command_group string_commands();
[[nodiscard]] command_group string_comparison_commands();
[[nodiscard]] command_group multi_set_commands();
[[nodiscard]] command_group bit_commands();
[[nodiscard]] command_group bitfield_commands();
[[nodiscard]] command_group subsequence_commands();
[[nodiscard]] command_group key_commands();
[[nodiscard]] command_group sorting_commands();
[[nodiscard]] command_group expiry_commands();
[[nodiscard]] command_group scan_commands();
[[nodiscard]] command_group serialization_commands();
[[nodiscard]] command_group list_commands();
[[nodiscard]] command_group list_move_commands();
[[nodiscard]] command_group set_commands();
[[nodiscard]] command_group set_algebra_commands();
[[nodiscard]] command_group hash_commands();
[[nodiscard]] command_group hash_combination_commands();
[[nodiscard]] command_group hash_expiry_commands();
[[nodiscard]] command_group sorted_set_commands();
[[nodiscard]] command_group sorted_set_range_commands();
[[nodiscard]] command_group sorted_set_pop_commands();
[[nodiscard]] command_group sorted_set_algebra_commands();
[[nodiscard]] command_group hyperloglog_commands();
[[nodiscard]] command_group geo_commands();
[[nodiscard]] command_group geo_search_commands();
[[nodiscard]] command_group stream_entry_commands();
[[nodiscard]] command_group stream_deletion_commands();
[[nodiscard]] command_group stream_group_commands();
[[nodiscard]] command_group stream_pending_commands();
[[nodiscard]] command_group stream_reading_commands();
[[nodiscard]] command_group stream_information_commands();
[[nodiscard]] command_group transaction_commands();
[[nodiscard]] command_group function_commands();
[[nodiscard]] command_group script_commands();
[[nodiscard]] command_group pubsub_commands();
[[nodiscard]] command_group acl_commands();
[[nodiscard]] command_group connection_commands();
[[nodiscard]] command_group client_commands();
[[nodiscard]] command_group config_commands();
[[nodiscard]] command_group server_commands();
[[nodiscard]] command_group persistence_commands();
[[nodiscard]] command_group replication_commands();
[[nodiscard]] command_group debug_commands();
[[nodiscard]] command_group latency_commands();
[[nodiscard]] command_group command_commands();
[[nodiscard]] command_group cluster_commands();
[[nodiscard]] command_group module_commands();

}  // namespace strata::runtime::cache
