# shellcheck shell=bash
# Functions for clean Debian systems, which are made with debootstrap and entered with chroot, as
# root. For scripts that have sourced script/lib.sh.
#
#   debian_mirror                            prints the URI of the Debian archive in use
#   new_system DIRECTORY CODENAME [MIRROR]   makes a system
#   in_namespace DIRECTORY COMMAND...        runs a command; its mounts in DIRECTORY end with it
#   start_system DIRECTORY                   in a namespace: mounts proc, shm and pts
#   inside DIRECTORY COMMAND...              runs a command in a system that was started
#   in_system DIRECTORY COMMAND...           does all three: namespace, start, command

# Prints the archives that this machine's packages come from, one a line: CODENAME URI ORIGIN
apt_sources() {
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(CODENAME) $(REPO_URI) $(ORIGIN)' 'Created-By: Packages' | grep ' http'
}

# Prints the URI of the Debian archive that this machine uses. Fails if it uses none.
debian_mirror() {
  apt_sources | awk '$3 == "Debian" && $1 !~ /-/ && !n++ { sub("/$", "", $2); print $2 }' | grep .
}

new_system() { # DIRECTORY CODENAME [MIRROR]
  debootstrap --variant=minbase --include=ca-certificates "$2" "$1" "${@:3}" || return
  note force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/force-unsafe-io"
  printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d" # no service is started
  chmod 755 "$1/usr/sbin/policy-rc.d"
}

# Runs a command in a namespace of its own. The command's mounts and processes end with the
# namespace, so that the directory can then be removed. If / cannot be made a private mount, as in a
# chroot, the directory itself becomes a private mount.
in_namespace() { # DIRECTORY COMMAND...
  local status=0
  # shellcheck disable=SC2016
  unshare --mount --propagation unchanged --pid --fork --kill-child bash -euc '
    mount --make-rprivate / 2>/dev/null || { mount --bind "$0" "$0" && mount --make-private "$0"; }
    "$@"' "$@" &
  trap 'kill -KILL %1; sleep 1; exit 130' INT TERM HUP
  wait %1 || status=$?
  trap - INT TERM HUP
  return $status
}

start_system() { # DIRECTORY
  mount -t proc proc "$1/proc"
  mkdir -p "$1/dev/shm" "$1/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=666 devpts "$1/dev/pts"
}

inside() { # DIRECTORY COMMAND...
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive ${http_proxy:+"http_proxy=$http_proxy"} \
    ${https_proxy:+"https_proxy=$https_proxy"} ${no_proxy:+"no_proxy=$no_proxy"} chroot "$1" "${@:2}"
}

in_system() { # DIRECTORY COMMAND...
  export -f start_system inside
  # shellcheck disable=SC2016
  in_namespace "$1" bash -euc 'start_system "$0" && inside "$0" "$@"' "$@"
}
