// A connection of HTTP that is served, whichever version it speaks, and can be told to end in good
// order.
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

  /// Takes no new requests, of which the client is told; those under way are answered. Then the
  /// connection ends by itself.
  virtual void retire() = 0;

  /// Bytes that it holds: of requests that are not answered yet, and of answers that wait.
  [[nodiscard]] virtual std::size_t held() const = 0;
  /// Ends it soon, whatever is under way.
  virtual void dismiss() = 0;

  /// Null once it has become another protocol's, and is somebody else's.
  [[nodiscard]] virtual const net::stream* stream() const = 0;

  // --- for its owner, which sets the first three
  std::uint64_t id = 0;          ///< unique among the clients of a runtime
  loop::time_point came;         ///< when it was accepted
  loop::time_point last_whole;   ///< when its last request was answered, or its owner set it
  loop::time_point last_active;  ///< when bytes were last received
  std::uint64_t requests = 0;
  std::uint64_t answers = 0;
  std::uint64_t bytes_received = 0;
  bool is_listed = true;  ///< its client is not known by another name, such as an event stream's

  /// Its place in the list of whoever lists such connections: it leaves when it is destroyed.
  hook place;
  using list = boost::intrusive::list<
      served_connection,
      boost::intrusive::member_hook<served_connection, hook, &served_connection::place>,
      boost::intrusive::constant_time_size<false>>;
};

}  // namespace strata::http
