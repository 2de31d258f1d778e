// A file as it is sent: its bytes, perhaps compressed or with a script in it, and the fields that
// go with them.
#pragma once

#include <cstdint>
#include <string>

#include "http/files/conditions.hpp"
#include "http/files/content_coding.hpp"
#include "http/files/file_root.hpp"
#include "loop/slice.hpp"
#include "proto/http/http1.hpp"

namespace strata::http {

struct representation {
  enum class storage : std::uint8_t {
    open_file,   ///< `file` has them
    in_memory,   ///< `body` has them
    to_be_made,  ///< `file`, compressed as it is sent: how long it will be is not known
  };

  proto::http_fields fields;  ///< those of an answer with 200
  std::string etag;
  std::int64_t modified_s = 0;
  storage where = storage::open_file;
  bool has_ranges = false;
  std::uint64_t size = 0;  ///< of what is sent; to be made: of the file
  unique_fd file;
  loop::slice body;
  file_version original;
  file_version sent;  ///< the compressed file beside it, or the same
  std::string key;    ///< where the catalog keeps it

  [[nodiscard]] validators state() const { return {.etag = etag, .modified_s = modified_s}; }
};

/// What a representation is made of.
struct representation_source {
  std::string_view type;  ///< Content-Type
  file_version original;
  file_version sent;  ///< the compressed file beside it, or the same
  coding by = coding::identity;
  bool is_varied = false;   ///< another request could get it by another coding
  bool has_script = false;  ///< put in by us
};

/// All but `where`, `size` and the bytes.
[[nodiscard]] representation describe_file(const representation_source& source);

/// The file's bytes in memory; empty when it is not as long as it was, or cannot be read.
[[nodiscard]] loop::slice read_whole(const opened_file& file);

}  // namespace strata::http
