// Generates how typed commands read and write attributes, in the forms of strata/nl/typed.hpp.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ynl/cpp_text.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// A part of a specification that typed commands do not support. Thrown, and caught by
/// `cpp_header`.
struct cpp_flaw : std::runtime_error {
  using runtime_error::runtime_error;
};

using attribute_list = std::vector<const attribute*>;

/// Refers to the specification, which must outlive it.
class cpp_attributes {
 public:
  explicit cpp_attributes(const spec& spec) : spec_(spec), space_(cpp_name(spec.family)) {}

  /// Returns the attributes of a set, without padding.
  [[nodiscard]] static attribute_list all_of(const attribute_set& set);
  /// Returns the named attributes of the operation's set, each once.
  [[nodiscard]] attribute_list named(const operation& operation,
                                     const std::vector<std::string>& names) const;
  /// Returns the set nested in the attribute; nullptr if there is none.
  [[nodiscard]] const attribute_set* set_within(const attribute& attribute) const;

  /// A view's readers of attributes: declarations, and definitions that need all classes.
  struct accessors {
    code declared;
    code defined;
  };
  [[nodiscard]] accessors read(const std::string& owner, const attribute_list& all) const;
  /// Returns the setters of a request, or of a nest's writer.
  [[nodiscard]] code written(const std::string& owner, const attribute_list& all) const;

 private:
  struct value_form {
    std::string name;
    std::string value;  ///< the type of its value
  };
  [[nodiscard]] value_form scalar(const attribute& attribute) const;
  [[nodiscard]] value_form form_of(const attribute& attribute) const;
  [[nodiscard]] std::string element_of(const attribute& array) const;
  [[nodiscard]] std::string class_within(const attribute& attribute, std::string_view suffix) const;
  void read_one(const std::string& owner, const attribute& each, accessors& accessors) const;
  [[nodiscard]] code begin_setter(const std::string& owner, const attribute& each) const;

  const spec& spec_;
  std::string space_;
};

}  // namespace strata::ynl
