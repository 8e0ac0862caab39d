#!/bin/sh
# Installs Toolsmith for the current user, or removes it.
#
#   sh install.sh               download, verify, unpack to ~/.local/lib/toolsmith/VERSION, link ~/.local/bin/toolsmith
#   sh install.sh --uninstall   remove all versions and the link; configuration, state and cache stay
#
# Variables:
#   TOOLSMITH_BASE_URL   where the archive and SHA256SUMS are (default: the release that this script is part of)
#   TOOLSMITH_PREFIX     the folder with lib/ and bin/ (default: ~/.local)
#
# Needs: curl or wget, sha256sum, tar, zstd. Installs no other program, and changes no file of the shell.
set -eu

# A release's copy of this script has its own address and version here; `.ci/release finish` writes them.
repository=""
release=""

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  shift
  for help in "$@"; do printf 'help: %s\n' "$help" >&2; done
  exit 1
}

need() {
  command -v "$1" >/dev/null 2>&1 ||
    fail "there is no $1" "install it, for example with: sudo apt install $1, or: sudo dnf install $1"
}

# Downloads $1 to the file $2.
download() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$2" "$1" || fail "$1 can't be downloaded" "check the network"
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --output-document="$2" "$1" || fail "$1 can't be downloaded" "check the network"
  else
    fail "there is neither curl nor wget" "install one of them"
  fi
}

platform() {
  [ "$(uname -s)" = Linux ] || fail "snippets run on Linux only, and this is $(uname -s)" \
    "use a Linux virtual machine or the container image"
  case $(uname -m) in
    x86_64) echo x86_64-linux ;;
    aarch64 | arm64) echo aarch64-linux ;;
    *) fail "there is no archive for $(uname -m)" "archives are for x86_64 and aarch64" ;;
  esac
}

# Compares the file $1 with its line in the file $2.
verify() {
  name=$(basename "$1")
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$2")
  [ -n "$expected" ] || fail "SHA256SUMS has no hash of $name" "use the files of one release"
  actual=$(sha256sum <"$1" | cut -d ' ' -f 1)
  [ "$actual" = "$expected" ] ||
    fail "$name has the hash $actual, but SHA256SUMS says $expected; nothing was installed" \
      "run the script again; if the hash still differs, report it"
}

install_release() {
  for program in sha256sum tar zstd sed uname; do need "$program"; done
  archive=toolsmith-bundle-$(platform).tar.zst
  if [ -n "${TOOLSMITH_BASE_URL:-}" ]; then
    base=${TOOLSMITH_BASE_URL%/}
  elif [ -n "$repository" ]; then
    base=$repository/releases/download/v$release
  else
    fail "this copy of the script does not know where the releases are" \
      "use the install.sh of a release, or set TOOLSMITH_BASE_URL to the folder with $archive and SHA256SUMS"
  fi
  mkdir -p "$folder" "$links"
  # In the same file system, so that the last step is only a rename.
  work=$(mktemp -d "$folder/.download-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM HUP
  echo "downloading $base/$archive" >&2
  download "$base/SHA256SUMS" "$work/SHA256SUMS"
  download "$base/$archive" "$work/$archive"
  verify "$work/$archive" "$work/SHA256SUMS"
  mkdir "$work/bundle"
  tar -x --zstd -f "$work/$archive" -C "$work/bundle" || fail "$archive can't be unpacked" "check the space in $folder"
  echo script >"$work/bundle/bin/toolsmith-package"
  version=$("$work/bundle/bin/toolsmith" --version) || fail "the program in $archive does not start here"
  version=${version#toolsmith }
  if [ -e "$folder/$version" ]; then
    is_ours "$folder/$version" || fail "$folder/$version is something else" "move it away"
    mv "$folder/$version" "$work/replaced"
  fi
  mv "$work/bundle" "$folder/$version"
  link "$folder/$version/bin/toolsmith"
  echo "installed $version in $folder/$version, with the link $links/toolsmith"
  case :$PATH: in
    *:"$links":*) ;;
    *) echo "help: add $links to PATH" >&2 ;;
  esac
}

# Whether this script has made the folder $1.
is_ours() {
  [ "$(cat "$1/bin/toolsmith-package" 2>/dev/null)" = script ]
}

# Points the link at $1; replaces only links into the folder of versions.
link() {
  if [ -e "$links/toolsmith" ] || [ -L "$links/toolsmith" ]; then
    is_our_link || fail "$links/toolsmith is not a link of this script" "remove it, or set TOOLSMITH_PREFIX"
  fi
  ln -s "$1" "$links/.toolsmith-$$"
  mv -f "$links/.toolsmith-$$" "$links/toolsmith"
}

is_our_link() {
  case $(readlink "$links/toolsmith" 2>/dev/null) in
    "$folder"/*) true ;;
    *) false ;;
  esac
}

uninstall() {
  found=false
  for version in "$folder"/*; do
    if is_ours "$version"; then
      rm -rf "$version"
      echo "removed $version"
      found=true
    fi
  done
  if is_our_link; then rm "$links/toolsmith"; echo "removed $links/toolsmith"; fi
  rmdir "$folder" 2>/dev/null || true
  "$found" || fail "there is no Toolsmith of this script in $folder" "set TOOLSMITH_PREFIX if it is elsewhere"
  echo "kept: ~/.config/toolsmith, ~/.local/state/toolsmith and ~/.cache/toolsmith; remove them if you do not need them"
}

prefix=${TOOLSMITH_PREFIX:-${HOME:?set HOME or TOOLSMITH_PREFIX}/.local}
folder=$prefix/lib/toolsmith
links=$prefix/bin
case ${1:-} in
  "") install_release ;;
  --uninstall) uninstall ;;
  *) fail "unknown argument $1" "usage: sh install.sh [--uninstall]" ;;
esac
