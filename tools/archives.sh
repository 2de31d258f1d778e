#!/usr/bin/env bash
# Makes what a static strata is linked with and Debian has no archive of: fmt, spdlog and LZF, from
# Debian's source packages. For machines of another kind it has Debian's packages for those, too,
# unpacked: on this machine nothing is installed.
#
#   tools/archives.sh ARCHITECTURE FOLDER
#
#   FOLDER/prefix    the archives, with their headers
#   FOLDER/system    of another architecture: Debian's libraries, headers and archives
set -euo pipefail
architecture=$1
folder=$(realpath -m "$2")
cd "$(dirname "$0")"
[ -e "$folder/done" ] && exit 0
mkdir -p "$folder"/{source,lists/partial,packages/partial}

# shellcheck disable=SC1091
. /etc/os-release
cat > "$folder/debian.sources" << END
Types: deb deb-src
URIs: http://deb.debian.org/debian
Suites: $VERSION_CODENAME
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
touch "$folder/status"
apt=(apt-get -qq -o Dir::Etc::sourcelist="$folder/debian.sources" -o Dir::Etc::sourceparts=-
  -o Dir::State::lists="$folder/lists" -o Dir::State::status="$folder/status"
  -o Dir::Cache::archives="$folder/packages" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
  -o APT::Architecture="$architecture" -o APT::Architectures="$architecture"
  -o APT::Sandbox::User=root -o APT::Install-Recommends=false -o Debug::NoLocking=true)
"${apt[@]}" update

native=$(dpkg --print-architecture)
cmake=(cmake -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF
  -DCMAKE_INSTALL_PREFIX="$folder/prefix" -DCMAKE_INSTALL_LIBDIR=lib
  -DCMAKE_PREFIX_PATH="$folder/prefix")
tools=""
if [ "$architecture" != "$native" ]; then
  tools=$(dpkg-architecture -a"$architecture" -qDEB_HOST_GNU_TYPE 2> /dev/null)-
  cmake+=(-DCMAKE_TOOLCHAIN_FILE="$PWD/../cmake/$architecture.cmake")
  # What compiling needs here, it needs of that architecture.
  # shellcheck disable=SC2046
  "${apt[@]}" install -y --download-only \
    $(sed '/^# ---/,$d' deps.txt | grep -E '^(lib|lua|nlohmann).*-dev$')
  for package in "$folder"/packages/*.deb; do dpkg-deb -x "$package" "$folder/system"; done
fi

(cd "$folder/source" && "${apt[@]}" source --tar-only fmtlib spdlog liblzf)
for archive in "$folder"/source/*.orig.tar.*; do
  name=$(basename "$archive")
  mkdir -p "$folder/source/${name%%_*}"
  tar -xf "$archive" -C "$folder/source/${name%%_*}" --strip-components=1
done

build() {
  local source="$folder/source/$1"
  shift
  "${cmake[@]}" -S "$source" -B "$source/build" "$@" > "$source.log"
  cmake --build "$source/build" >> "$source.log"
  cmake --install "$source/build" >> "$source.log"
}
build fmtlib -DFMT_TEST=OFF -DFMT_DOC=OFF
build spdlog -DSPDLOG_FMT_EXTERNAL=ON -DSPDLOG_BUILD_EXAMPLE=OFF
lzf=$folder/source/liblzf
for part in lzf_c lzf_d; do
  "${tools}gcc" -O2 -c "$lzf/$part.c" -o "$lzf/$part.o"
done
"${tools}ar" rcs "$folder/prefix/lib/liblzf.a" "$lzf/lzf_c.o" "$lzf/lzf_d.o"
cp "$lzf/lzf.h" "$folder/prefix/include"
touch "$folder/done"
