// A connection that a proxy passes on as it is, as the script knows it: by its number. The script
// hears that it has come and gone, and may change what either side says, piece by piece.
//
// For one loop's thread. While the script waits with a piece, that direction of that connection
// waits, and nothing else does.
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
  /// It has gone.
  ~known_client() override;

  /// As of its bond.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] const net::peer_info& peer() const { return peer_; }
  /// The backend that it is joined with; empty: not yet.
  [[nodiscard]] const std::string& backend() const { return backend_; }

  /// Awaits that the script has heard that it is here.
  [[nodiscard]] loop::task<> begin();
  /// It is joined with that backend from now on, until `bond` ends, or this.
  void join(bond& bond, std::string backend);
  /// Ends the connection: now, or as soon as it would be joined.
  void close();
  /// The script has ended it.
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
