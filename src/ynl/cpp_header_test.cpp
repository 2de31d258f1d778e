// Tests the C++ generated from specifications. tests/ynl compares a whole header.
#include "ynl/cpp_header.hpp"

#include <gtest/gtest.h>

#include "ynl/cpp_text.hpp"
#include "ynl/testing/forms.hpp"

namespace strata::ynl {
namespace {

std::string header_of(const std::string& yaml) {
  const auto made = cpp_header(spec_of(yaml), "x.yaml");
  return made ? *made : describe(made.error());
}

/// Returns a family with the set 's' of one attribute, 'a', and these operations.
std::string with_operations(const std::string& operations) {
  return "name: x\nattribute-sets: [{name: s, attributes: [{name: a, type: u8}]}]\noperations:\n"
         "  enum-model: directional\n  list: [" +
         operations + "]\n";
}

TEST(ynl_cpp_text, names_are_identifiers) {
  EXPECT_EQ(cpp_name("Rx-Bytes.64"), "rx_bytes_64");
  EXPECT_EQ(cpp_name("2nd"), "_2nd");
  EXPECT_EQ(cpp_name("default"), "default_");
  EXPECT_EQ(cpp_name("h\xc3\xa9"), "h_") << "a letter is one underscore";
  EXPECT_EQ(cpp_name("has", cpp_place::view), "has_");
  EXPECT_EQ(cpp_name("has", cpp_place::writer), "has");
  EXPECT_EQ(cpp_name("a\n#include <x>"), "a__include__x_");
}

TEST(ynl_cpp_text, comments_stay_comments) {
  EXPECT_EQ(cpp_comment(" \n "), code());
  EXPECT_EQ(cpp_comment("one\n  two \\\n"), code{"/// one two /"});
  const std::string word(44, 'a');
  EXPECT_EQ(cpp_comment(word + " " + word + " b"), (code{"/// " + word + " " + word, "/// b"}));
  EXPECT_EQ(cpp_comment(word + " " + word.substr(1) + "-bb"),
            (code{"/// " + word + " " + word.substr(1) + "-", "/// bb"}));
  EXPECT_EQ(cpp_comment(word + word + " 802-1").size(), 2U) << "no hyphen between words";
}

TEST(ynl_cpp_text, literals_are_escaped) {
  EXPECT_EQ(cpp_literal("a\"b\\\n\xff"), R"("a\"b\\\n\ufffd")");
}

TEST(ynl_cpp_header, constants_keep_their_kind) {
  const auto header = header_of(
      "name: x\ndefinitions: [{name: a, type: const, value: 0x10}, {name: b, type: const, value: "
      "-3}, {name: c, type: const, value: '12'}]\noperations: {list: []}\n");
  EXPECT_NE(header.find("constexpr std::uint64_t a = 16;"), std::string::npos) << header;
  EXPECT_NE(header.find("constexpr std::int64_t b = -3;"), std::string::npos);
  EXPECT_NE(header.find("constexpr std::string_view c = \"12\";"), std::string::npos);
}

TEST(ynl_cpp_header, an_event_has_a_number_of_its_own) {
  const auto header = header_of(
      with_operations("{name: told, attribute-set: s, event: {value: 7, attributes: [a]}}"));
  EXPECT_NE(header.find("command = 7;"), std::string::npos) << header;
}

TEST(ynl_cpp_header, what_cannot_be_made_is_named) {
  EXPECT_NE(header_of(with_operations("{name: o, do: {request: {attributes: [a]}}}"))
                .find("cannot generate commands from 'forms.yaml': 'o' has attributes, but no"),
            std::string::npos);
  EXPECT_NE(
      header_of(with_operations("{name: o, attribute-set: s, do: {request: {attributes: [b]}}}"))
          .find("'b' is not an attribute of 's'"),
      std::string::npos);
  EXPECT_NE(header_of(with_operations("{name: o, do: {request: {}}}, {name: O, do: {request: {}}}"))
                .find("two items of 'x' would be named o_request"),
            std::string::npos);
  EXPECT_NE(
      header_of(with_operations("{name: o, do: {reply: {value: 3}}, dump: {reply: {value: 4}}}"))
          .find("the do and dump replies of 'o' have different numbers"),
      std::string::npos);
  EXPECT_NE(header_of(with_operations("{name: o, fixed-header: h}")).find("fixed header"),
            std::string::npos);
}

}  // namespace
}  // namespace strata::ynl
