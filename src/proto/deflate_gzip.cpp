#include "proto/deflate_gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <climits>
#include <new>

namespace strata::proto {

namespace {

constexpr int gzip_format = 16;  // added to the window's bits (zlib's manual, at deflateInit2)
constexpr int usual_memory = 8;
// Level 6 makes text a tenth smaller, but takes twice the time.
constexpr int quick_level = 4;

}  // namespace

gzip_writer::gzip_writer() : stream_(new z_stream{}) {
  const int made = deflateInit2(stream_.get(), quick_level, Z_DEFLATED, MAX_WBITS + gzip_format,
                                usual_memory, Z_DEFAULT_STRATEGY);
  if (made == Z_MEM_ERROR) throw std::bad_alloc();
  assert(made == Z_OK);
}

void gzip_writer::closer::operator()(z_stream_s* stream) const {
  deflateEnd(stream);
  delete stream;
}

void gzip_writer::feed(byte_span piece, std::string& output) {
  while (!piece.empty()) {
    const auto part = piece.first(std::min<std::size_t>(piece.size(), UINT_MAX));
    step(part, Z_NO_FLUSH, output);
    piece = piece.subspan(part.size());
  }
}

void gzip_writer::finish(std::string& output) { step({}, Z_FINISH, output); }

void gzip_writer::step(byte_span piece, int flush, std::string& output) {
  std::array<char, 16U << 10U> written;
  // zlib takes its input as mutable, but does not write to it.
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(piece.data()));
  stream_->avail_in = static_cast<uInt>(piece.size());
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(written.data());
    stream_->avail_out = static_cast<uInt>(written.size());
    // Z_BUF_ERROR: nothing was left to do.
    [[maybe_unused]] const int code = deflate(stream_.get(), flush);
    assert(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR);
    output.append(written.data(), written.size() - stream_->avail_out);
  } while (stream_->avail_out == 0);
}

std::string gzip(byte_span bytes) {
  std::string output;
  gzip_writer writer;
  writer.feed(bytes, output);
  writer.finish(output);
  return output;
}

}  // namespace strata::proto
