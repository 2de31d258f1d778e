// The functions of `self` for servers' scripts.
#pragma once

#include <span>

#include "loop/task.hpp"
#include "script/library.hpp"

namespace strata::runtime::server {

class shard;
class shard_script;
struct script_client;

/// The host of the functions: each is called with its arguments, as the table of `script_functions`
/// describes them.
class client_functions {
 public:
  /// Both outlive the functions.
  client_functions(shard& shard, shard_script& script) : home_(shard), script_(script) {}

 private:
  friend std::span<const script::function_row> script_functions();
  static const script::function_row rows[];

  void send(script::call& call);
  void broadcast(script::call& call);
  void multicast(script::call& call);
  void disconnect(script::call& call);
  loop::task<script::answers> clients(script::call& call);
  void peer(script::call& call);
  void peer_ip(script::call& call);
  void ws_headers(script::call& call);
  void set_data(script::call& call);
  void get_data(script::call& call);
  void join_group(script::call& call);
  void leave_group(script::call& call);
  void group_send(script::call& call);
  loop::task<script::answers> connected_upstreams(script::call& call);
  loop::task<script::answers> send_upstream(script::call& call);
  loop::task<script::answers> broadcast_upstream(script::call& call);
  loop::task<script::answers> route(script::call& call);
  void unroute(script::call& call);
  void get_route(script::call& call);
  void pipe(script::call& call);
  void unpipe(script::call& call);
  void connections(script::call& call);

  /// Null if there is none, or if it has left.
  [[nodiscard]] script_client* find_present(std::uint64_t id) const;

  shard& home_;
  shard_script& script_;
};

/// The functions of `self` for servers' scripts.
[[nodiscard]] std::span<const script::function_row> script_functions();

}  // namespace strata::runtime::server
