#include "http/http2/http2_body.hpp"

#include <algorithm>

namespace strata::http {

void http2_body::push(const loop::slice& piece) {
  pieces_.push_back(piece);
  waiting_ += piece.size();
}

void http2_body::move(std::size_t count, gathered_output& output) {
  waiting_ -= count;
  while (count > 0) {
    auto& from = pieces_[first_];
    const auto part = static_cast<std::uint32_t>(std::min<std::size_t>(count, from.size()));
    output.append(from.part(0, part));
    from.remove_prefix(part);
    count -= part;
    if (!from.empty()) break;
    from = {};
    ++first_;
  }
  if (first_ == pieces_.size()) {
    pieces_.clear();
    first_ = 0;
  } else if (first_ >= 64) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

void http2_body::clear() {
  pieces_.clear();
  first_ = 0;
  waiting_ = 0;
}

}  // namespace strata::http
