#include "proto/deflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <climits>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "proto/message_room.hpp"

namespace strata::proto {

namespace {

constexpr std::size_t max_chunk = 16U << 10U;  // of output, between two checks of the limit
constexpr std::size_t max_input = UINT_MAX;    // of one zlib call
constexpr std::array tail = {std::byte{0}, std::byte{0}, std::byte{0xFF}, std::byte{0xFF}};

// Parts of data_type after zlib's inflate: it is between two blocks, with this many bits left.
constexpr int between_blocks = 128;
constexpr int bits_left = 63;

/// Checks the code of a zlib call, which can fail only for lack of memory, since the arguments are
/// ours.
void demand(int code) {
  if (code == Z_MEM_ERROR) throw std::bad_alloc();
  assert(code == Z_OK);
}

byte_span give_input(z_stream& stream, byte_span bytes) {
  const auto piece = bytes.first(std::min(bytes.size(), max_input));
  // zlib takes its input as mutable, but does not write to it.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
  stream.avail_in = static_cast<uInt>(piece.size());
  return bytes.subspan(piece.size());
}

std::unexpected<error> too_long(std::size_t limit) {
  return failure(errc::limit_exceeded, "inflate a message",
                 "it is longer than " + std::to_string(limit) + " bytes");
}

/// Calls `step`, a zlib function, with room for `room` bytes behind `output`, and keeps the written
/// bytes.
template <class Step>
int append_step(z_stream& stream, std::string& output, std::size_t room, Step step) {
  int code = Z_OK;
  const auto before = output.size();
  output.resize_and_overwrite(before + room, [&](char* text, std::size_t) {
    stream.next_out = reinterpret_cast<Bytef*>(text + before);
    stream.avail_out = static_cast<uInt>(room);
    code = step();
    return before + room - stream.avail_out;
  });
  return code;
}

}  // namespace

deflater::deflater(const settings& settings) : stream_(new z_stream{}) {
  assert(settings.window_bits >= min_deflater_bits && settings.window_bits <= max_window_bits);
  demand(deflateInit2(stream_.get(), settings.level, Z_DEFLATED, -settings.window_bits,
                      settings.memory_level, Z_DEFAULT_STRATEGY));
}

void deflater::closer::operator()(z_stream_s* stream) const {
  deflateEnd(stream);
  delete stream;
}

void deflater::compress(byte_span message, std::string& output) {
  if (message.empty()) {  // zlib does not flush twice; this is an empty block
    output += '\0';
    return;
  }
  for (auto rest = message; !rest.empty();) {
    rest = give_input(*stream_, rest);
    const int flush = rest.empty() ? Z_SYNC_FLUSH : Z_NO_FLUSH;
    do {
      const auto room = std::min<std::size_t>(max_chunk, stream_->avail_in / 2 + 64);
      make_room(output, room, SIZE_MAX);
      append_step(*stream_, output, room, [&] { return deflate(stream_.get(), flush); });
    } while (stream_->avail_out == 0);
  }
  assert(as_bytes(output).size() >= tail.size());
  output.resize(output.size() - tail.size());
}

void deflater::restart() { demand(deflateReset(stream_.get())); }

inflater::inflater(int window_bits) : stream_(new z_stream{}) {
  assert(window_bits >= min_window_bits && window_bits <= max_window_bits);
  demand(inflateInit2(stream_.get(), -window_bits));
}

void inflater::closer::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

result<void> inflater::feed(byte_span piece, std::string& output, std::size_t limit) {
  while (!piece.empty()) {
    const auto rest = give_input(*stream_, piece);
    if (auto inflated = inflate_input(output, limit); !inflated) return inflated;
    piece = rest;
  }
  return {};
}

/// Inflates to the end of zlib's input.
result<void> inflater::inflate_input(std::string& output, std::size_t limit) {
  if (output.size() > limit) return too_long(limit);
  // One byte beyond the limit shows that there is more.
  const auto ceiling = limit == SIZE_MAX ? limit : limit + 1;
  do {
    // A sender may end each message with a final block (RFC 7692 section 7.2.3.4): the window
    // stays.
    if (std::exchange(has_ended_, false)) demand(inflateResetKeep(stream_.get()));
    const auto wanted = std::size_t{stream_->avail_in} * 4 + 64;
    const auto room = std::min({max_chunk, wanted, ceiling - output.size()});
    make_room(output, room, ceiling);
    // Z_BLOCK stops after each block, which shows whether a message ends there.
    const int code =
        append_step(*stream_, output, room, [&] { return ::inflate(stream_.get(), Z_BLOCK); });
    if (output.size() > limit) {
      output.resize(limit);
      return too_long(limit);
    }
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    has_ended_ = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return failure(errc::malformed, "inflate a message",
                     stream_->msg == nullptr ? "it is not valid DEFLATE" : stream_->msg);
    }
  } while (stream_->avail_in > 0 ||
           (stream_->avail_out == 0 && !has_ended_ && !is_between_blocks()));
  return {};
}

result<void> inflater::finish(std::string& output, std::size_t limit) {
  // Some senders end with a final block and nothing behind it. The tail would then belong to no
  // block.
  if (has_ended_) return {};
  if (auto inflated = feed(tail, output, limit); !inflated) return inflated;
  if (is_between_blocks() && (stream_->data_type & bits_left) == 0) return {};
  return failure(errc::malformed, "inflate a message", "it ends inside a block");
}

bool inflater::is_between_blocks() const { return (stream_->data_type & between_blocks) != 0; }

void inflater::restart() {
  demand(inflateReset(stream_.get()));
  has_ended_ = false;
}

}  // namespace strata::proto
