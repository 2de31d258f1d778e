#include "proto/tls/client_hello.hpp"

#include <gtest/gtest.h>

namespace strata::proto {
namespace {

std::string with_length(std::size_t bytes, const std::string& text) {
  std::string made;
  for (std::size_t at = bytes; at-- != 0;) made += static_cast<char>(text.size() >> (8 * at));
  return made + text;
}

std::string extension(unsigned kind, const std::string& body) {
  return std::string{static_cast<char>(kind >> 8U), static_cast<char>(kind)} + with_length(2, body);
}

std::string server_name(const std::string& name) {
  return extension(0, with_length(2, std::string(1, '\0') + with_length(2, name)));
}

std::string hello(const std::string& extensions) {
  auto body = std::string("\x03\x03") + std::string(32, 'r') + with_length(1, "session") +
              with_length(2, "\x13\x01") + with_length(1, std::string(1, '\0'));
  if (!extensions.empty()) body += with_length(2, extensions);
  return "\x01" + with_length(3, body);
}

std::string record(const std::string& text) { return "\x16\x03\x01" + with_length(2, text); }

TEST(client_hello, the_name_is_found_and_is_in_small_letters) {
  const auto said = record(hello(extension(43, "xx") + server_name("API.Example.com")));
  const auto read = read_server_name(as_bytes(said));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, "api.example.com");
}

TEST(client_hello, without_a_name_it_is_empty) {
  for (const auto& extensions : {std::string(), extension(43, "xx")}) {
    const auto read = read_server_name(as_bytes(record(hello(extensions))));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, "");
  }
}

TEST(client_hello, a_beginning_needs_more) {
  const auto said = record(hello(server_name("a.example")));
  for (std::size_t size = 0; size < said.size(); ++size) {
    const auto read = read_server_name(as_bytes(said).first(size));
    ASSERT_TRUE(read) << size;
    EXPECT_FALSE(*read) << size;
  }
}

TEST(client_hello, it_may_be_cut_into_records) {
  const auto message = hello(server_name("a.example"));
  for (std::size_t cut = 1; cut < message.size(); ++cut) {
    const auto said = record(message.substr(0, cut)) + record(message.substr(cut));
    const auto read = read_server_name(as_bytes(said));
    ASSERT_TRUE(read) << cut;
    EXPECT_EQ(*read, "a.example") << cut;
  }
}

TEST(client_hello, what_is_none_is_an_error) {
  const auto good = hello(server_name("a"));
  for (const auto& said :
       {std::string("GET / HTTP/1.1\r\n"), std::string("\x16\x02"), record("\x02" + good.substr(1)),
        record(hello(extension(0, "\xff\xff"))), record(hello(server_name(std::string(1, '\0')))),
        record(hello(server_name(""))), record("\x01" + with_length(3, "short")),
        std::string("\x16\x03\x01\xff\xff"), std::string("\x16\x03\x01\0\0", 5),
        record(std::string("\x01\xff\xff\xff"))}) {
    EXPECT_FALSE(read_server_name(as_bytes(said)));
  }
}

}  // namespace
}  // namespace strata::proto
