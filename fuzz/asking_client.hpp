// A client of an engine that has no connection, for fuzz targets.
#pragma once

#include <cassert>
#include <span>
#include <string_view>

#include "proto/resp/resp_value.hpp"
#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/kept_reply.hpp"

class asking_client final : public strata::runtime::cache::client {
 public:
  /// `home` outlives this object.
  explicit asking_client(strata::runtime::cache::engine& home) : home_(home) {
    home_.home().enter(*this);
    may_block = false;
  }
  ~asking_client() override { home_.home().leave(*this); }
  asking_client(const asking_client&) = delete;
  asking_client& operator=(const asking_client&) = delete;

  /// Executes a command. Its reply must be whole, and the only one.
  void ask(std::span<const std::string_view> words) {
    home_.execute(*this, words);
    strata::proto::value_reader reader({.max_depth = 2000});
    reader.feed(strata::as_bytes(kept_.take()));
    const auto first = reader.next();
    assert(first && *first);
    assert(reader.held() == 0);
  }

  [[nodiscard]] strata::proto::reply_writer& reply() override { return kept_; }
  void push(const strata::loop::slice& /*bytes*/) override {}
  void disconnect(bool /*after_reply*/) override {}
  void resume(bool /*has_changed_data*/) override {}

 private:
  strata::runtime::cache::engine& home_;
  strata::runtime::cache::kept_reply kept_;
};
