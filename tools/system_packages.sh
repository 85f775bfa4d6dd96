#!/bin/sh
# Sees that what the tests need of the system is there: Chromium with a Chinese font, MariaDB and Redis.
# Installs it where this is Debian and we are root, else names the command and fails.
set -eu
PATH="$PATH:/usr/sbin"
missing=""
command -v chromium >/dev/null 2>&1 || missing="chromium fonts-noto-cjk"
command -v mariadbd >/dev/null 2>&1 || missing="$missing mariadb-server"
command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
[ -n "$missing" ] || exit 0
install="apt-get install -o DPkg::Lock::Timeout=600 --yes --no-install-recommends $missing"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing for the tests: $missing" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && $install >/dev/null && exit 0
fi
echo "The tests need $missing. Install it, then run this again: sudo $install" >&2
exit 1
