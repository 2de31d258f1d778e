#include "http/files/file_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <random>

#include "http/file_piece.hpp"
#include "http/files/accepted_types.hpp"
#include "http/files/folder_listing.hpp"
#include "proto/deflate_gzip.hpp"
#include "proto/http/http_fields.hpp"
#include "text/percent.hpp"

namespace strata::http {

namespace {

constexpr std::string_view allowed_methods = "GET, HEAD, OPTIONS";
// A body of at most this size is sent at once.
constexpr auto piece_size = file_piece_size;
// Shorter bodies are copied behind the answer's head.
constexpr std::size_t longest_copied = 8U << 10U;

// Unpredictable, so it cannot be written into a file beforehand.
const std::string& boundary() {
  static const auto drawn = [] {
    std::random_device source;
    return fmt::format("strata-{:08x}{:08x}{:08x}", source(), source(), source());
  }();
  return drawn;
}

answer_head head_with(int status, const representation& representation) {
  answer_head head{.status = status, .fields = {}, .length = {}};
  head.standing = &representation.fields;
  return head;
}

// Section 15.4.5: the fields that confirm the client's copy.
answer_head not_modified_head(const representation& representation) {
  answer_head head{.status = 304, .fields = {}, .length = {}};
  for (const auto& each : representation.fields) {
    const bool belongs = each.first == "ETag" || each.first == "Last-Modified" ||
                         each.first == "Vary" || each.first == "X-Content-Type-Options";
    if (belongs) head.fields.push_back(each);
  }
  return head;
}

// Only the path, so that it leads to no other server: each name is encoded, and none is empty.
std::string with_slash(const request_path& path, std::string_view target) {
  std::string location = "/";
  for (auto rest = path.relative; !rest.empty();) {
    const auto end = std::min(rest.find('/'), rest.size());
    location += text::percent_encode(rest.substr(0, end));
    location += '/';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto query = std::min(target.find('?'), target.size());
  const bool is_plain = std::ranges::all_of(
      target.substr(query), [](char letter) { return letter > ' ' && letter < 0x7F; });
  if (is_plain) location += target.substr(query);
  return location;
}

std::string content_range(const byte_range& range, std::uint64_t size) {
  return fmt::format("bytes {}-{}/{}", range.first, range.last, size);
}

// A single range is the answer's body; of several, each is a part with a head (section 14.6).
unsent_body parts_of(const chosen_ranges& chosen,
                     std::shared_ptr<const representation> representation, answer_head& head) {
  unsent_body body{.of = std::move(representation), .parts = {}, .tail = {}};
  const auto& ranges = chosen.ranges;
  const auto size = body.of->size;
  head.length = 0;
  if (ranges.size() == 1) {
    head.standing = &body.of->fields;
    head.fields.emplace_back("Content-Range", content_range(ranges[0], size));
    head.length = ranges[0].size();
    body.parts.push_back({.head = {}, .offset = ranges[0].first, .count = ranges[0].size()});
    return body;
  }
  std::string_view type;
  for (const auto& each : body.of->fields) {
    if (each.first == "Content-Type") {
      type = each.second;
    } else {
      head.fields.push_back(each);
    }
  }
  head.fields.emplace_back("Content-Type",
                           fmt::format("multipart/byteranges; boundary={}", boundary()));
  for (const auto& range : ranges) {
    body.parts.push_back(
        {.head = fmt::format("\r\n--{}\r\nContent-Type: {}\r\nContent-Range: {}\r\n\r\n",
                             boundary(), type, content_range(range, size)),
         .offset = range.first,
         .count = range.size()});
    *head.length += body.parts.back().head.size() + range.size();
  }
  body.tail = fmt::format("\r\n--{}--\r\n", boundary());
  *head.length += body.tail.size();
  return body;
}

}  // namespace

result<std::unique_ptr<file_server>> file_server::open(loop::loop& loop,
                                                       const file_settings& settings) {
  auto catalog = file_catalog::open(loop, settings.catalog);
  if (!catalog) return std::unexpected(catalog.error());
  if (!settings.fallback.empty()) {
    const auto found = (*catalog)->root().open_below(settings.fallback);
    if (!found || found->is_folder) {
      return std::unexpected(
          system_error(found ? EISDIR : found.error(),
                       fmt::format("serve '{}' for what is not there", settings.fallback),
                       "--http-fallback takes a file in the folder of --http"));
    }
  }
  return std::unique_ptr<file_server>(new file_server(loop, std::move(*catalog), settings));
}

std::optional<unsent_body> file_server::answer(exchange& exchange) {
  const auto& request = exchange.request();
  if (request.method == "OPTIONS") {
    answer_head head{
        .status = 204, .fields = {{"Allow", std::string(allowed_methods)}}, .length = {}};
    exchange.respond(std::move(head), "");
    return std::nullopt;
  }
  if (exchange.method() != "GET") {
    answer_head head{
        .status = 405, .fields = {{"Allow", std::string(allowed_methods)}}, .length = {}};
    exchange.respond(std::move(head), "");
    return std::nullopt;
  }
  const auto path = read_path(request.path, request.target);
  if (path.refusal == 400) {
    refuse(exchange, 400);
    return std::nullopt;
  }
  coding_preference wanted;
  const bool has_range = !exchange.is_head() && request.header("range");
  if (!has_range) {
    if (const auto codings = proto::joined_field(request.headers, "accept-encoding")) {
      wanted = read_accept_encoding(*codings);
    }
  }
  auto found = path.refusal == 0 ? catalog_->find(path, wanted) : finding{.status = path.refusal};
  if (found.what) return give(exchange, std::move(found.what));
  return give_missing(exchange, path, found);
}

std::optional<unsent_body> file_server::give_missing(exchange& exchange, const request_path& path,
                                                     const finding& finding) {
  const auto& headers = exchange.request().headers;
  if (finding.status == 301) {
    answer_head head{.status = 301, .fields = {}, .length = {}};
    head.fields.emplace_back("Location", with_slash(path, exchange.request().target));
    exchange.respond(std::move(head), "");
  } else if (finding.is_folder && settings_.lists_folders) {
    list(exchange, path);
  } else if (finding.status == 404 && !settings_.fallback.empty() &&
             accepted_weight(headers, "text/html") > 0) {
    auto instead = catalog_->find({.relative = settings_.fallback}, {});
    if (instead.what) return give(exchange, std::move(instead.what));
    refuse(exchange, instead.status == 301 ? 404 : instead.status);
  } else {
    refuse(exchange, finding.status);
  }
  return std::nullopt;
}

void file_server::refuse(exchange& exchange, int status) const {
  exchange.respond(status, "text/plain; charset=utf-8",
                   fmt::format("{} {}\n", status, proto::http_reason(status)));
}

void file_server::list(exchange& exchange, const request_path& path) const {
  const auto folder = catalog_->root().open_below(path.relative);
  if (!folder || !folder->is_folder) {
    refuse(exchange, 404);
    return;
  }
  const auto items = list_folder(catalog_->root(), path.relative, *folder);
  const auto& headers = exchange.request().headers;
  const bool as_json =
      accepted_weight(headers, "application/json") > accepted_weight(headers, "text/html");
  answer_head head{.status = 200, .fields = {}, .length = {}};
  head.fields.emplace_back("Content-Type",
                           as_json ? "application/json" : "text/html; charset=utf-8");
  head.fields.emplace_back("X-Content-Type-Options", "nosniff");
  head.fields.emplace_back("Vary", "Accept");
  const auto& where = exchange.request().path;
  exchange.respond(std::move(head),
                   as_json ? listing_json(where, items) : listing_page(where, items));
}

std::optional<unsent_body> file_server::give(exchange& exchange,
                                             std::shared_ptr<const representation> representation) {
  const auto& headers = exchange.request().headers;
  const auto judged = judge(headers, representation->state());
  if (judged == judgement::failed) {
    refuse(exchange, 412);
    return std::nullopt;
  }
  if (judged == judgement::not_modified) {
    exchange.begin(not_modified_head(*representation));
    exchange.finish();
    return std::nullopt;
  }
  const auto range = exchange.is_head() || !representation->has_ranges
                         ? std::nullopt
                         : proto::joined_field(headers, "range");
  if (!range || !allows_range(headers, representation->state(), ::time(nullptr))) {
    return give_whole(exchange, std::move(representation));
  }
  const auto chosen = choose_ranges(*range, representation->size);
  if (chosen.what == chosen_ranges::kind::whole)
    return give_whole(exchange, std::move(representation));
  if (chosen.what == chosen_ranges::kind::unsatisfiable) {
    answer_head head{.status = 416, .fields = {}, .length = {}};
    head.fields.emplace_back("Content-Range", fmt::format("bytes */{}", representation->size));
    exchange.respond(std::move(head), "");
    return std::nullopt;
  }
  answer_head head{.status = 206, .fields = {}, .length = {}};
  auto body = parts_of(chosen, std::move(representation), head);
  exchange.begin(std::move(head));
  return body;
}

std::optional<unsent_body> file_server::give_whole(
    exchange& exchange, std::shared_ptr<const representation> representation) {
  using enum representation::storage;
  auto head = head_with(200, *representation);
  if (representation->where != to_be_made) head.length = representation->size;
  if (exchange.is_head()) {
    exchange.begin(std::move(head));
    exchange.finish();
    return std::nullopt;
  }
  if (representation->where == in_memory && representation->size <= longest_copied) {
    exchange.respond(std::move(head), as_text(representation->body.bytes()));
    return std::nullopt;
  }
  if (representation->where == open_file && representation->size <= piece_size) {
    const auto size = representation->size;
    const auto piece = read_piece({.fd = representation->file.get(), .offset = 0, .count = size});
    if (piece.size() != size) {
      refuse(exchange, 503);  // the file has become shorter since it was opened
    } else if (size <= longest_copied) {
      exchange.respond(std::move(head), as_text(piece.bytes()));
    } else {
      exchange.begin(std::move(head));
      exchange.push(piece);
      exchange.finish();
    }
    return std::nullopt;
  }
  exchange.begin(std::move(head));
  if (representation->where == in_memory) {
    exchange.push(representation->body);
    exchange.finish();
    return std::nullopt;
  }
  const auto size = representation->size;
  return unsent_body{.of = std::move(representation),
                     .parts = {{.head = {}, .offset = 0, .count = size}},
                     .tail = {}};
}

loop::task<> file_server::send(exchange& exchange, unsent_body rest) {
  using enum representation::storage;
  const auto& what = *rest.of;
  if (what.where == to_be_made) {
    co_await send_compressed(exchange, rest.of);
    co_return;
  }
  for (const auto& part : rest.parts) {
    exchange.push(part.head);
    if (what.where == in_memory) {
      exchange.push(what.body.part(static_cast<std::uint32_t>(part.offset),
                                   static_cast<std::uint32_t>(part.count)));
      continue;
    }
    const bool is_written = co_await exchange.write_file(
        {.fd = what.file.get(), .offset = part.offset, .count = part.count});
    if (!is_written) {
      exchange.abort();
      co_return;
    }
  }
  exchange.push(rest.tail);
  exchange.finish();
}

// Yields to the loop between two pieces: compressing takes more time than reading.
loop::task<> file_server::send_compressed(exchange& exchange,
                                          std::shared_ptr<const representation> representation) {
  proto::gzip_writer writer;
  std::string made;  // all compressed bytes, as long as they may be kept
  bool is_kept = true;
  for (std::uint64_t done = 0; done < representation->size;) {
    const auto size = std::min<std::uint64_t>(piece_size, representation->size - done);
    std::string part;
    {
      const auto piece =
          read_piece({.fd = representation->file.get(), .offset = done, .count = size});
      if (piece.empty()) {
        exchange.abort();
        co_return;
      }
      writer.feed(piece.bytes(), part);
    }
    done += size;
    if (done == representation->size) writer.finish(part);
    is_kept = is_kept && made.size() + part.size() <= file_catalog::largest_kept;
    if (is_kept) {
      made += part;
    } else {
      made = {};
    }
    exchange.push(std::string_view(part));
    const bool has_room = co_await exchange.room();
    if (!has_room) {
      exchange.abort();
      co_return;
    }
    co_await loop_.sleep(loop::duration::zero());
  }
  exchange.finish();
  if (is_kept) catalog_->keep_made(*representation, made);
}

}  // namespace strata::http
