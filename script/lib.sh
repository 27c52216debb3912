# shellcheck shell=bash
# Functions that the scripts share: packages, a sandbox, a private PostgreSQL server, the build of
# another commit.
#
# A script that sources this file names what it needs, and then works in a sandbox:
#
#   need_packages g++ nm=binutils -- clang  installs what is missing; clang is optional
#   enter_sandbox "$@"                      starts the script again, unprivileged, on a copy of the tree
#   private_server                          makes PG_CONFIG a server of our own
#   start_cluster                           starts a cluster that psql and make installcheck find
#
# A script that compares with another commit calls open_commit COMMIT before it enters the sandbox,
# and install_other inside. A script with results to keep calls enter_sandbox_and_return instead of
# enter_sandbox, and hand_back FILE... for its results.
#
# The sandbox is one directory under /tmp. It holds a copy of the source tree, a relocated copy of
# the PostgreSQL server, the cluster and every build product. The sandbox is removed when the script
# ends, also after an error or a signal. So nothing is built in the checkout, `make install` does
# not touch the system, and the system's own clusters are never used.
#
# The server is the one that PG_CONFIG names. Without PG_CONFIG, it is the installed server, or else
# the distribution's default.

set -euo pipefail

# A user's settings change neither what programs print nor who may read files.
unset CDPATH LANGUAGE
export LC_ALL=C.UTF-8
umask 022

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
SELF=$(cd "$(dirname "$0")" && pwd)/${0##*/}
SANDBOX=${BLOOMFILTER_SANDBOX:-}
# shellcheck disable=SC2034 # for script/matrix
KEPT=/var/tmp/bloomfilter-matrix # keeps systems, other processors' files and servers between runs
OLDEST=15 NEWEST=19 # the major releases of PostgreSQL that are supported
CLUSTER_SETTINGS=('fsync = off') # the private cluster need not survive a crash of the system

note() { printf '%s\n' "$*"; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# quietly COMMAND...: runs the command and shows its output only if it fails.
quietly() { "$@" >"$SANDBOX/log" 2>&1 || die "$* failed: $(cat "$SANDBOX/log")"; }

# --- packages -------------------------------------------------------------------------------------

# Installs what a script needs. Before `--` come the things that the script cannot do without: a
# command, a header or a file, and after `=` the Debian package that contains it, unless the package
# has the same name. After `--` come optional packages. If a needed thing is here without its
# package, for instance on a system without apt, that is enough. Ends the script if a needed thing
# is missing.
need_packages() {
  [ -z "$SANDBOX" ] || return 0
  local needed=() required=() optional=() missing package jit
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    needed+=("$1")
    required+=("${1#*=}")
    shift
  done
  optional=("${@:2}")

  find_server
  required+=(${SERVER_PACKAGES[@]+"${SERVER_PACKAGES[@]}"})
  if command -v apt-get >/dev/null; then
    [ -z "$(not_installed "${required[@]}" ${optional[@]+"${optional[@]}"})" ] || apt_update
    # From version 18 on, Debian packages the server's JIT apart.
    jit=${SERVER_PACKAGES[0]:-none}-jit
    [ -n "${QUICK:-}" ] || ! known_to_apt "$jit" || optional+=("$jit")
    install_server ${SERVER_PACKAGES[@]+"${SERVER_PACKAGES[@]}"}
    apt_install "${required[@]}"
    apt_install ${optional[@]+"${optional[@]}"}
    for package in $(not_installed ${optional[@]+"${optional[@]}"}); do # if one failed, none is installed
      apt_install "$package"
    done
    missing=$(not_installed ${optional[@]+"${optional[@]}"})
    [ -z "$missing" ] || note "Going on without: ${missing//$'\n'/ }"
    export BLOOMFILTER_WITHOUT=${missing//$'\n'/ } # for the summary of steps.sh
  fi
  missing=$(lacking "${needed[@]}")
  [ -z "$missing" ] || (die "cannot go on without ${missing//$'\n'/, }") || exit 77 # the status of a skip
}

# Prints the things that are missing. Also prints the server if extensions cannot be built for it.
lacking() { # THING[=PACKAGE]...
  local need
  for need; do
    case ${need%%=*} in
      /*) [ -e "${need%%=*}" ] ;;
      *.h) note "#include <${need%%=*}>" | g++ -E -x c++ - ;;
      *) command -v "${need%%=*}" ;;
    esac >/dev/null 2>&1 || note "$need" | sed 's/=\(.*\)/ (Debian: \1)/'
  done
  if ! [ -x "${PG_CONFIG%/*}/postgres" ] || ! [ -e "$("$PG_CONFIG" --pgxs)" ]; then
    note "a PostgreSQL server and what extensions are built with" \
      "(${SERVER_PACKAGES[*]-PG_CONFIG=/path/to/pg_config names another})"
  fi
}

# Sets PG_CONFIG, and SERVER_PACKAGES to the packages that contain it, which may not be installed
# yet.
find_server() {
  local bindir
  if [ -n "${PG_CONFIG:-}" ]; then
    bindir=$("$PG_CONFIG" --bindir 2>/dev/null) || bindir=${PG_CONFIG%/*}
  else
    bindir=$(pg_config --bindir 2>/dev/null) || true
    [ -x "$bindir/postgres" ] || bindir=$(newest_server)
    if [ ! -x "$bindir/postgres" ] && command -v apt-get >/dev/null; then
      apt_update
      bindir=$(default_server)
    fi
  fi
  PG_CONFIG=$bindir/pg_config
  SERVER_PACKAGES=()
  if [[ $bindir =~ ^/usr/lib/postgresql/([0-9]+)/bin$ ]]; then
    SERVER_PACKAGES=("postgresql-${BASH_REMATCH[1]}" "postgresql-server-dev-${BASH_REMATCH[1]}")
  fi
}

# Prints the directory of the newest of Debian's servers that is installed and supported.
newest_server() {
  local major
  for ((major = NEWEST; major >= OLDEST; major--)); do
    if [ -x "/usr/lib/postgresql/$major/bin/postgres" ]; then
      note "/usr/lib/postgresql/$major/bin"
      return
    fi
  done
}

default_server() {
  local version
  version=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p')
  [ -n "$version" ] || die "apt knows no package named postgresql"
  note "/usr/lib/postgresql/$version/bin"
}

not_installed() {
  local package installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true
  for package; do
    grep -qx "installed $package" <<<"$installed" || note "$package"
  done
}

known_to_apt() { apt-cache show "$1" >/dev/null 2>&1; }

# Installs the packages of a server. A setting keeps Debian's package from making a cluster and
# starting it.
install_server() (
  conf=/etc/postgresql-common/createcluster.conf
  [ -n "$(not_installed "$@")" ] || return 0
  apt_install postgresql-common
  if [ -e $conf ]; then
    trap 'as_root mv $conf.bloomfilter $conf' EXIT
    as_root cp -p $conf $conf.bloomfilter
    note 'create_main_cluster = false' | as_root tee -a $conf >/dev/null
  fi
  apt_install "$@"
)

# Installs those packages that are missing and that apt knows, after a line that says how large they
# are. need_packages reports the packages that could not be installed.
apt_install() {
  local package packages=() output size
  for package in $(not_installed "$@"); do
    ! known_to_apt "$package" || packages+=("$package")
  done
  [ ${#packages[@]} -gt 0 ] && may_be_root || return 0
  size=$(apt-get install -y --no-install-recommends --print-uris "${packages[@]}" 2>/dev/null |
    sed -n 's/^Need to get \([0-9.]* [kMG]*B\).*/\1 to fetch/p
      s/^After this operation, \(.*\) of additional disk space.*/, \1 on disk/p' | tr -d '\n') || true
  note "Installing ${packages[*]}${size:+ ($size)} ..." | fold -s -w 80 | sed 's/ $//'
  output=$(as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -o DPkg::Lock::Timeout=300 \
    -o APT::Keep-Downloaded-Packages=false --no-install-recommends "${packages[@]}" 2>&1) || tail -n 5 <<<"$output"
}

apt_update() {
  [ -z "${APT_UPDATED:-}" ] && may_be_root || return 0
  APT_UPDATED=yes
  note "Updating the package lists ..."
  as_root apt-get update -qq -o DPkg::Lock::Timeout=300 >/dev/null 2>&1 ||
    note "apt-get update failed; going on with the lists at hand"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

may_be_root() { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }

# --- sandbox --------------------------------------------------------------------------------------

# Starts the calling script again from a copy of the tree, with an environment that names no other
# server. If the user is root, the script runs as another user, because PostgreSQL refuses root.
enter_sandbox() {
  if [ -n "$SANDBOX" ]; then
    trap leave_sandbox EXIT
    trap 'exit 130' INT TERM HUP
    return
  fi
  local dir user become=() ours=() variable
  for variable in $(compgen -e BLOOMFILTER_) PG_CONFIGS http_proxy https_proxy no_proxy; do
    ours+=("$variable=${!variable:-}")
  done
  dir=$(mktemp -d /tmp/bloomfilter.XXXXXX) # not TMPDIR: a socket's path has at most 107 bytes
  # shellcheck disable=SC2064
  trap "rm -rf '$dir'" EXIT
  mkdir "$dir/tmp" "$dir/src"
  copy_tree "$dir/src"
  if [ "$(id -u)" = 0 ]; then
    user=postgres
    id $user >/dev/null 2>&1 || user=nobody
    chown -R "$user:$(id -g $user)" "$dir"
    become=(setpriv "--reuid=$user" "--regid=$(id -g $user)" --init-groups --)
  fi
  cd "$dir/src"
  exec env -i "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin" "TERM=${TERM:-dumb}" \
    "HOME=$dir" "TMPDIR=$dir/tmp" "PG_CONFIG=$PG_CONFIG" "${ours[@]}" "BLOOMFILTER_SANDBOX=$dir" \
    ${become[@]+"${become[@]}"} bash "$dir/src/${SELF#"$ROOT"/}" "$@"
}

# Like enter_sandbox, for a script that hands files back. Only the caller may write to the checkout.
# So the files travel through a descriptor, and the caller unpacks them, even if the script fails
# later.
enter_sandbox_and_return() {
  [ -z "$SANDBOX" ] || { enter_sandbox "$@" && return; }
  local archive status
  archive=$(mktemp)
  set +e
  (set -e; enter_sandbox "$@") 3>"$archive"
  status=$?
  set -e
  [ ! -s "$archive" ] || tar -C "$ROOT" --no-same-owner --ignore-zeros -xmf "$archive" || status=1
  rm -f "$archive"
  exit "$status"
}

# Hands files of the sandbox's tree back to the checkout. They arrive there when the script ends.
hand_back() { # FILE...
  tar -cf - "$@" >&3
}

# Copies the tracked files, and new files that git does not ignore. Without git, copies every file.
copy_tree() { # DIRECTORY
  (
    cd "$ROOT"
    if [ -e .git ] && command -v git >/dev/null; then
      git -c safe.directory='*' ls-files -zco --exclude-standard
    else
      find . -name .git -prune -o ! -type d -print0
    fi
  ) | tar -C "$ROOT" --null -T - --ignore-failed-read -cf - 2>/dev/null |
    tar -C "$1" --no-same-owner -xf -
}

# Kills the script's background jobs, stops every server that runs in the sandbox (an interrupted
# TAP test leaves some) and removes the sandbox.
leave_sandbox() {
  local group pid_file
  for group in $(jobs -pr); do
    if kill -KILL -- "-$group"; then wait "$group" || true; fi
  done 2>/dev/null
  find "$SANDBOX" -name postmaster.pid | while read -r pid_file; do
    "$BINDIR/pg_ctl" -D "${pid_file%/*}" -m immediate stop >/dev/null 2>&1 || true
  done
  cd /
  rm -rf "$SANDBOX"
}

# --- private server -------------------------------------------------------------------------------

# Makes a private copy of the server. PostgreSQL is relocatable: its programs find other files
# relative to their own directory. So a copy of the directories of programs, libraries and shared
# files, arranged in the same way below another root, is a server of its own, and its pg_config
# leads PGXS there. Headers are only read, so links to them are enough.
private_server() {
  local system=$PG_CONFIG dir path
  for dir in bindir pkglibdir sharedir; do
    path=$("$system" --$dir)
    mkdir -p "$SANDBOX/pg$path"
    cp -a "$path/." "$SANDBOX/pg$path"
  done
  for dir in includedir pkgincludedir includedir-server libdir; do
    path=$("$system" --$dir)
    [ -e "$SANDBOX/pg$path" ] || { mkdir -p "$SANDBOX/pg${path%/*}" && ln -s "$path" "$SANDBOX/pg$path"; }
  done
  BINDIR=$SANDBOX/pg$("$system" --bindir)
  PG_CONFIG=$BINDIR/pg_config
  for dir in bindir pkglibdir sharedir includedir-server; do
    [ "$("$PG_CONFIG" --$dir)" = "$SANDBOX/pg$("$system" --$dir)" ] ||
      die "this server cannot be relocated: a copy of it in $SANDBOX/pg still has" \
        "$dir = $("$PG_CONFIG" --$dir)"
  done
  PATH=$BINDIR:$PATH
  # If the system has this extension installed, it was copied, too.
  make -s PG_CONFIG="$PG_CONFIG" uninstall >/dev/null
}

# Starts a cluster on a socket in the sandbox. Environment variables tell psql, make installcheck
# and other clients where the cluster is.
start_cluster() {
  export PGHOST=$SANDBOX PGUSER=postgres PGDATABASE=postgres
  PGDATA=$SANDBOX/data
  start_server "$PGDATA" 5432 "${CLUSTER_SETTINGS[@]}"
}

# Makes and starts a cluster in the directory DATA, with a socket for PORT in the sandbox.
start_server() { # DATA PORT SETTING...
  initdb -D "$1" -U postgres -A trust -E UTF8 --no-locale --no-sync >"$1.initdb.log" ||
    die "initdb failed: $(cat "$1.initdb.log")"
  printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$SANDBOX'" "port = $2" \
    "${@:3}" >>"$1/postgresql.conf"
  pg_ctl -D "$1" -l "$1.log" -w start >/dev/null ||
    die "the private server does not start: $(cat "$1.log")"
}

# --- another commit -------------------------------------------------------------------------------

# Opens a commit's sources as descriptor 4, because the sandbox has no repository.
open_commit() { # COMMIT
  local repository=(git -C "$ROOT" -c safe.directory='*')
  "${repository[@]}" rev-parse -q --verify "$1^{commit}" >/dev/null || die "there is no commit $1"
  exec 4< <("${repository[@]}" archive "$1")
}

# Builds the sources of that commit in $SANDBOX/other, and installs their extension as `other`.
install_other() (
  local file
  mkdir "$SANDBOX/other"
  cd "$SANDBOX/other" || exit
  tar -xf - <&4
  for file in bloomfilter.control bloomfilter--*.sql; do cp "$file" "other${file#bloomfilter}"; done
  sed -i "s|^module_pathname.*|module_pathname = '\$libdir/other'|" other.control
  make -j 2 PG_CONFIG="$PG_CONFIG" EXTENSION=other MODULE_big=other \
    DATA="$(echo other--*.sql)" install
)
