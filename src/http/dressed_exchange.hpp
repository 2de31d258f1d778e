// An exchange that adds fields to its handler's answer.
#pragma once

#include "http/exchange.hpp"

namespace strata::http {

class dressed_exchange final : public exchange {
 public:
  /// `of` outlives this object.
  dressed_exchange(exchange& of, proto::http_fields more)
      : exchange(of.request()), of_(of), more_(std::move(more)) {}

  [[nodiscard]] const net::peer_info& peer() const override { return of_.peer(); }
  [[nodiscard]] served_connection& connection() override { return of_.connection(); }
  [[nodiscard]] bool is_secure() const override { return of_.is_secure(); }
  [[nodiscard]] bool has_body() const override { return of_.has_body(); }
  loop::task<result<std::string>> read(std::uint64_t most) override { return of_.read(most); }
  void leave_continue() override { of_.leave_continue(); }
  [[nodiscard]] proto::http_fields take_trailers() override { return of_.take_trailers(); }
  using exchange::push;
  using exchange::respond;
  void respond(answer_head head, std::string_view body) override;
  void inform(int status, const proto::http_fields& fields) override { of_.inform(status, fields); }
  void begin(answer_head head) override;
  void push(const loop::slice& piece) override;
  loop::task<bool> write_file(loop::file_part part) override;
  using exchange::finish;
  void finish(proto::http_fields trailers) override {
    note_end();
    of_.finish(std::move(trailers));
  }
  [[nodiscard]] std::size_t unsent() const override { return of_.unsent(); }
  loop::task<bool> room() override { return of_.room(); }
  loop::task<> delivered(loop::time_point limit) override { return of_.delivered(limit); }
  loop::task<> client_end() override { return of_.client_end(); }
  loop::task<> client_left() override { return of_.client_left(); }
  void abort() override { of_.abort(); }
  [[nodiscard]] bool owns_connection() const override { return of_.owns_connection(); }
  [[nodiscard]] std::unique_ptr<net::byte_channel> upgrade(
      const proto::http_fields& fields) override;

 private:
  void dress(answer_head& head) const {
    head.fields.insert(head.fields.end(), more_.begin(), more_.end());
  }

  exchange& of_;
  proto::http_fields more_;
};

}  // namespace strata::http
