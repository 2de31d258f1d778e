// A connection on the engine's loop: what it receives is executed at once.
//
// Received bytes are parsed as a batch of requests; the memory that their keys will need is
// prefetched before the first is executed, so that the batch waits for memory once.
#pragma once

#include <memory>

#include "net/stream.hpp"
#include "proto/resp/resp_request.hpp"
#include "runtime/cache/serving/session.hpp"
#include "runtime/cache/serving/session_link.hpp"

namespace strata::runtime::cache {

class workbench;

class connection final : private session_link {
 public:
  connection(workbench& workbench, std::unique_ptr<net::stream> stream);

  /// Serves the client until it ends, or is ended.
  [[nodiscard]] loop::task<> run();
  [[nodiscard]] const session& client() const { return session_; }

 private:
  [[nodiscard]] request_view next(const proto::request_limits& limits, unsigned database) override;
  void take_back(std::size_t first) override;
  void settle() override { reader_.keep(); }
  [[nodiscard]] std::string_view protocol_error() const override;
  [[nodiscard]] std::size_t input_bytes() const override { return reader_.held(); }
  [[nodiscard]] std::size_t input_room() const override { return reader_.room(); }
  void push(const loop::slice& bytes) override { stream_->push(bytes); }
  void allow(std::uint64_t bytes) override { stream_->out().allow(bytes); }
  [[nodiscard]] std::uint64_t allowed() const override { return stream_->out().allowed(); }
  [[nodiscard]] std::uint64_t pushed() const override { return stream_->out().pushed(); }
  [[nodiscard]] std::size_t unsent() const override { return stream_->unsent(); }
  [[nodiscard]] loop::task<> room(std::size_t low, loop::time_point limit) override;
  [[nodiscard]] bool is_broken() const override { return stream_->broken() != 0; }
  void leave() override { stream_->leave(); }
  [[nodiscard]] const net::peer_info& peer() const override { return stream_->peer(); }
  [[nodiscard]] std::string_view transport() const override { return stream_->transport(); }
  [[nodiscard]] int descriptor_number() const override { return stream_->out().socket().fd(); }

  /// Executes what has been received. Returns false at the end of the connection.
  bool take(const result<loop::buffer>& received);
  /// Reports whether too many of its requests are pending: reading stops until they are executed.
  [[nodiscard]] bool has_to_pause() const;

  workbench& bench_;
  std::unique_ptr<net::stream> stream_;
  proto::request_reader reader_;
  bool is_broken_ = false;  // the reader is
  session session_;
};

}  // namespace strata::runtime::cache
