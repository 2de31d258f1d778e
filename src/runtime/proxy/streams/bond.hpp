// A client and a backend that are joined: what a proxy ends when it stops, or when both are silent,
// and shows as one of its clients.
//
// For one loop's thread.
#pragma once

#include <boost/intrusive/list.hpp>
#include <string>

#include "loop/loop.hpp"
#include "runtime/clients.hpp"
#include "runtime/counters.hpp"
#include "runtime/tap.hpp"

namespace strata::runtime::proxy {

/// What the bonds of a gate have in common. All of it outlives them.
struct bond_means {
  loop::loop& loop;
  tap& shown;
  const std::string& name;  ///< the runtime's
  counters& counted;
};

class bond : public boost::intrusive::list_base_hook<
                 boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  using list = boost::intrusive::list<bond, boost::intrusive::constant_time_size<false>>;

  /// `means` outlives the bond.
  explicit bond(const bond_means& means)
      : means_(means), began_(means.loop.now()), last_active_(began_) {}
  bond(const bond&) = delete;
  bond& operator=(const bond&) = delete;
  virtual ~bond() = default;

  /// Sets the client's id.
  void begin(std::uint64_t client) { id_ = client; }
  /// Ends it as if it had broken.
  virtual void break_off() = 0;
  /// When data last arrived, from either side.
  [[nodiscard]] loop::time_point last_active() const { return last_active_; }
  /// The client's id, unique in its proxy.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// The client, as shown by the operation `clients`.
  [[nodiscard]] client_report report() const;

 protected:
  /// The client's address, protocol and TLS subject, and the unsent bytes for it.
  [[nodiscard]] virtual client_report client() const = 0;
  /// The endpoint of the backend; empty if there is none yet.
  [[nodiscard]] virtual std::string backend() const = 0;

  [[nodiscard]] loop::loop& loop() const { return means_.loop; }
  [[nodiscard]] counters& counted() const { return means_.counted; }
  void note_active() { last_active_ = loop().now(); }
  /// Counts a message or a piece of a stream, and shows it in the tap.
  void note_passed(bool from_client, tapped_form form, byte_span bytes);

 private:
  void show(bool from_client, tapped_form form, byte_span bytes) const;

  const bond_means& means_;
  loop::time_point began_;
  loop::time_point last_active_;
  std::uint64_t id_ = 0;
  traffic passed_;
};

}  // namespace strata::runtime::proxy
