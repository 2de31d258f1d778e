// A raw connection that the script of a proxy knows by its number. The script is notified when it
// comes and goes, and may change each piece of data from either side.
//
// For one loop's thread. While the script waits with a piece, only that direction of that
// connection waits.
#pragma once

#include <cstdint>
#include <string>

#include "net/byte_channel.hpp"
#include "net/joint.hpp"
#include "runtime/proxy/script/gate_script.hpp"
#include "runtime/proxy/streams/bond.hpp"

namespace strata::runtime::proxy {

class known_client final : public net::joint::changer {
 public:
  /// `script` outlives it.
  known_client(gate_script& script, std::uint64_t id, net::peer_info peer);
  known_client(const known_client&) = delete;
  known_client& operator=(const known_client&) = delete;
  /// Notifies the script that it has gone.
  ~known_client() override;

  /// The id of the client, which is also its bond's.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const net::peer_info& peer() const { return peer_; }
  /// The backend that it is joined with; empty: none yet.
  [[nodiscard]] const std::string& backend() const { return backend_; }

  /// Waits until the script has handled its arrival.
  [[nodiscard]] loop::task<> begin();
  /// Joined with that backend from now on, until `bond` or this object ends.
  void join(bond& bond, std::string backend);
  /// Ends the connection: now, or as soon as it would be joined.
  void close();
  /// Whether the script has ended it.
  [[nodiscard]] bool is_closed() const { return is_closed_; }

  [[nodiscard]] bool changes(bool from_first) const override;
  loop::task<result<std::string>> change(bool from_first, std::string piece) override;

 private:
  gate_script& script_;
  std::uint64_t id_;
  net::peer_info peer_;
  std::string backend_;
  bond* joined_ = nullptr;
  bool is_closed_ = false;
};

}  // namespace strata::runtime::proxy
