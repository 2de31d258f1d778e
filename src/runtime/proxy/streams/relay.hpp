// A client and a backend, joined until both have ended, or one is broken: then the break is
// signalled to the other.
//
// For one loop's thread.
#pragma once

#include <memory>

#include "net/byte_channel.hpp"
#include "net/joint.hpp"
#include "runtime/counters.hpp"
#include "runtime/proxy/choice/backend.hpp"
#include "runtime/proxy/streams/bond.hpp"

namespace strata::runtime::proxy {

class relay final : public bond {
 public:
  /// `protocol` is the client's, as in `client_report`.
  /// `most`: how many bytes may wait for a side that reads slowly. `counted` outlives this, and so
  /// does `use`, which may be null: it is told, perhaps twice, that the backend has said something
  /// or all has gone well to the end; or that the backend broke off. `changing`: null, or it
  /// outlives this.
  relay(loop::loop& loop, std::unique_ptr<net::byte_channel> client, std::string_view protocol,
        std::unique_ptr<net::byte_channel> backend, std::size_t most, counters& counted,
        backend_use* use, net::joint::changer* changing = nullptr);

  [[nodiscard]] loop::task<> run();
  void break_off() override { joint_.give_up(); }

 private:
  [[nodiscard]] client_report client() const override;
  [[nodiscard]] std::string backend() const override;
  loop::task<> break_both(const net::joint::breach& breach);

  std::unique_ptr<net::byte_channel> client_;
  std::string_view protocol_;
  std::unique_ptr<net::byte_channel> backend_;
  counters& counted_;
  backend_use* use_;
  bool has_received_ = false;  // data from the backend has arrived
  net::joint joint_;
};

}  // namespace strata::runtime::proxy
