// A specification for tests, with an attribute of each form.
#pragma once

#include <stdexcept>
#include <string_view>
#include <utility>

#include "ynl/reader.hpp"

namespace strata::ynl {

inline constexpr std::string_view forms = R"(
name: forms
protocol: genetlink-legacy
definitions:
  - {name: color, type: enum, value-start: 3, entries: [red, {name: green, value: 7}, blue]}
  - {name: mode, type: flags, entries: [read, write, {name: exec, value: 8}]}
  - {name: most, type: const, value: 1}
attribute-sets:
  - name: some
    subset-of: main
    attributes: [{name: s-64}, {name: tree}]
  - name: main
    attributes:
      - {name: u8, type: u8}
      - {name: port, type: u16, byte-order: big-endian}
      - {name: s-64, type: s64, value: 0x10}
      - {name: color, type: u8, enum: color}
      - {name: mode, type: u32, enum: mode}
      - {name: colors, type: u16, enum: color, enum-as-flags: true}
      - {name: pad, type: pad}
      - {name: blob, type: binary}
      - {name: bits, type: bitfield32}
      - {name: number, type: u32, multi-attr: true}
      - {name: tree, type: nest, nested-attributes: tree}
      - {name: trees, type: indexed-array, sub-type: nest, nested-attributes: tree}
      - {name: ports, type: indexed-array, sub-type: u16, byte-order: big-endian}
      - {name: table, type: nest-type-value, type-value: [row, column], nested-attributes: tree}
      - {name: forest, type: nest, nested-attributes: tree, multi-attr: true}
      - {name: sum, type: sint}
      - {name: on, type: flag}
  - name: tree
    attributes:
      - {name: name, type: string}
      - {name: child, type: nest, nested-attributes: tree}
      - {name: leaf, type: u32, multi-attr: true}
operations:
  enum-model: directional
  list:
    - name: set-all
      attribute-set: main
      do: {request: {value: 5, attributes: [u8]}, reply: {attributes: [u8, tree]}}
    - name: get-some
      attribute-set: some
      do: {request: {}, reply: {value: 9, attributes: [s-64]}}
      dump: {reply: {attributes: [s-64]}}
    - {name: forget, attribute-set: some, do: {request: {}}}
    - {name: some-ntf, notify: get-some, mcgrp: watchers}
    - {name: list-only, attribute-set: some, dump: {reply: {}}}
)";

inline spec spec_of(std::string_view yaml) {
  auto made = read_spec(yaml, "forms.yaml");
  if (!made) throw std::runtime_error(describe(made.error()));
  return std::move(*made);
}

}  // namespace strata::ynl
