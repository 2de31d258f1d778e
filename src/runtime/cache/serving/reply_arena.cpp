#include "runtime/cache/serving/reply_arena.hpp"

#include <algorithm>

namespace strata::runtime::cache {

reply_arena::~reply_arena() {
  if (current_ != nullptr) current_->release();
  for (auto* each : spare_) each->release();
}

void reply_arena::flush() {
  if (writing_ != nullptr) writing_->flush();
}

void reply_arena::lend(reply_stream& stream, std::size_t size) {
  flush();
  if (current_ != nullptr && current_->unshared()) current_->clear();
  if (current_ == nullptr || current_->room() < size) change_chunk(size);
  writing_ = &stream;
  stream.begin_ = stream.at_ = reinterpret_cast<char*>(current_->tail());
  stream.end_ = stream.at_ + current_->room();
}

void reply_arena::change_chunk(std::size_t size) {
  if (current_ != nullptr) {
    if (current_->capacity() == chunk_size && spare_.size() < most_spare) {
      spare_.push_back(current_);
    } else {
      current_->release();
    }
  }
  const auto free = std::ranges::find_if(spare_, &loop::chunk::unshared);
  if (size <= chunk_size && free != spare_.end()) {
    current_ = *free;
    spare_.erase(free);
    current_->clear();
    return;
  }
  current_ = loop::chunk::make(static_cast<std::uint32_t>(std::max<std::size_t>(chunk_size, size)));
}

reply_stream::~reply_stream() {
  if (shared_.writing_ == this) shared_.writing_ = nullptr;
}

void reply_stream::flush() {
  if (shared_.writing_ != this) return;
  const auto size = static_cast<std::uint32_t>(at_ - begin_);
  shared_.writing_ = nullptr;
  begin_ = at_ = end_ = nullptr;
  if (size == 0) return;
  auto& from = *shared_.current_;
  const auto offset = from.size();
  from.take(size);
  to_.push(loop::slice(from, offset, size));
}

}  // namespace strata::runtime::cache
