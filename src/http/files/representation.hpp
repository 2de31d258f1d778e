// A file as it is sent: its bytes, perhaps compressed or with a script in it, and its header
// fields.
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
    open_file,   ///< the bytes are in `file`
    in_memory,   ///< the bytes are in `body`
    to_be_made,  ///< `file` is compressed while it is sent: its length is not known
  };

  proto::http_fields fields;  ///< the fields of an answer with 200
  std::string etag;
  std::int64_t modified_s = 0;
  storage where = storage::open_file;
  bool has_ranges = false;
  std::uint64_t size = 0;  ///< size as sent; if to be made, that of the file
  unique_fd file;
  loop::slice body;
  file_version original;
  file_version sent;  ///< version of the compressed file beside it, or equal to `original`
  std::string key;    ///< its key in the catalog

  [[nodiscard]] validators state() const { return {.etag = etag, .modified_s = modified_s}; }
};

/// The parts that a representation is made of.
struct representation_source {
  std::string_view type;  ///< Content-Type
  file_version original;
  file_version sent;  ///< version of the compressed file beside it, or equal to `original`
  coding by = coding::identity;
  bool is_varied = false;   ///< another request could get it in another coding
  bool has_script = false;  ///< with the injected script
};

/// Fills in all but `where`, `size` and the bytes.
[[nodiscard]] representation describe_file(const representation_source& source);

/// Reads the file's bytes into memory; empty if its length has changed or it cannot be read.
[[nodiscard]] loop::slice read_whole(const opened_file& file);

}  // namespace strata::http
