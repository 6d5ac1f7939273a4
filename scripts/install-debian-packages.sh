#!/bin/sh
# Installs Debian packages by name, for root; as many of them as possible. Services that come with them are not started:
# the tests start what they need by themselves. DPKG_ROOT means what it means to dpkg.
set -eu

root="${DPKG_ROOT:-}"
policy="$root/usr/sbin/policy-rc.d"
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 1' HUP INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
status=0
apt-get -qq -o DPkg::Lock::Timeout=300 update
for package in "$@"; do
  apt-get -qq -o DPkg::Lock::Timeout=300 -y --no-install-recommends install "$package" || status=1
done

# Or the next boot would start it.
if [ -d "$root/run/systemd/system" ] && [ "${*#*nginx}" != "$*" ]; then
  systemctl --quiet disable nginx || status=1
fi
exit "$status"
