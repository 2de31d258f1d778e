// A served HTTP connection, of any HTTP version, which can be ended in good order.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>

#include "loop/timer.hpp"
#include "net/stream.hpp"

namespace strata::http {

class served_connection {
  using hook = boost::intrusive::list_member_hook<
      boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

 public:
  served_connection() = default;
  served_connection(const served_connection&) = delete;
  served_connection& operator=(const served_connection&) = delete;
  virtual ~served_connection() = default;

  /// Stops taking new requests and informs the client; requests under way are answered. Then the
  /// connection ends by itself.
  virtual void retire() = 0;

  /// Bytes that it holds: of unanswered requests, and of unsent answers.
  [[nodiscard]] virtual std::size_t held() const = 0;
  /// Ends it soon, even if requests are under way.
  virtual void dismiss() = 0;

  /// The connection's stream; null once it has been upgraded to another protocol.
  [[nodiscard]] virtual const net::stream* stream() const = 0;

  // --- for the owner, which sets the first four
  std::uint64_t id = 0;          ///< unique among the clients of a runtime
  loop::time_point came;         ///< when it was accepted
  loop::time_point last_whole;   ///< when its last request was answered, or as set by its owner
  loop::time_point last_active;  ///< when bytes were last received
  std::uint64_t bytes_received = 0;
  std::uint64_t requests : 48 = 0;
  std::uint64_t unanswered : 15 = 0;  ///< requests under way
  bool is_listed : 1 = true;  ///< false if its client is listed otherwise, as an event stream is

  /// Its link in a list of connections, which the destructor removes.
  hook place;
  using list = boost::intrusive::list<
      served_connection,
      boost::intrusive::member_hook<served_connection, hook, &served_connection::place>,
      boost::intrusive::constant_time_size<false>>;
};

}  // namespace strata::http
