#!/bin/sh
# New weights from nothing: `sh training/run.sh STAGE`, one stage after the other.
#
#   home      here: what is trained from, and the base model in 16 bits  (ten minutes)
#   embedder  on the GPU: the student                                      (at most 6 minutes)
#   pairs     on the GPU: the reader of pairs, three seeds at once         (at most 9 minutes)
#   mean      on the GPU: their mean, measured                             (at most 2 minutes)
#   export    here: the files that are shipped, in $RUN/shipped
#
# All of it lies in $RUN, by default the ignored folder training/work: mirrors/ (the clones; or set
# MIRRORS), prepared/, base/, and what the GPU gives back in out/. A stage on the GPU needs src/,
# training/ and $RUN/prepared (about 40 MB), the first one also $RUN/base (45 MB); if both are too
# much at once, send base first. torch, numpy, tokenizers and safetensors must be there. What a stage
# has made lies in $RUN/out and, where OUT is set, in $OUT too: five files of `embedder` (47 MB) and
# three of `mean` (22 MB), none over 16 MiB. Bring them back to $RUN/out before `export`.
#
# Where only part of a clone may travel: git sparse-checkout set src training.
# EMBEDDER and READING are more arguments for the trainers; to try the stages on a processor:
# EMBEDDER="--device cpu --steps 3 --budget 2048" READING="--device cpu --seconds 5 --batch 16".
set -eu
cd "$(dirname "$0")/.."
RUN=${RUN:-training/work}
MIRRORS=${MIRRORS:-$RUN/mirrors}
WORK=$RUN/prepared
if [ -z "${PYTHON:-}" ]; then
    PYTHON=python3
    [ -x training/.venv/bin/python ] && PYTHON=training/.venv/bin/python
fi
export PYTHONPATH=src:. PYTHONUNBUFFERED=1
mkdir -p "$WORK" "$RUN/out"

give() { [ -z "${OUT:-}" ] || cp "$@" "$OUT/"; }

home() {
    "$PYTHON" -m training.sources.build "$MIRRORS" "$RUN/sources"
    if [ -n "${BENCH:-}" ]; then set -- --bench "$BENCH"; else set --; fi
    "$PYTHON" -m training.embedder.prepare "$RUN/sources" "$WORK" "$@"
    "$PYTHON" -m training.judge.pairs "$RUN/sources" "$WORK"
    "$PYTHON" -m training.answers.groups "$RUN/sources" "$WORK"
    "$PYTHON" -m training.extract.rows "$WORK"
    "$PYTHON" - "$RUN/base" <<'EOF'
import sys
from pathlib import Path

from safetensors.numpy import load_file, save_file

from training.smoke import base_weights

out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
weights = load_file(base_weights() / "model.safetensors")
halves = {name: it.astype("float16") for name, it in weights.items() if it.dtype == "float32"}
save_file(halves, out / "model.safetensors")
EOF
    du -sm "$WORK" "$RUN/base"
}

embedder() {
    "$PYTHON" -c 'import numpy, safetensors, tokenizers, torch'
    "$PYTHON" -m training.embedder.train "$WORK" "$RUN/out" --weights "$RUN/base" \
        --seconds 180 --chinese-weight 0.5 ${EMBEDDER:-}
    give "$RUN"/out/rows-?.safetensors "$RUN"/out/layers-?.safetensors "$RUN/out/scores.json"
}

pairs() {
    "$PYTHON" -m training.reading.train "$WORK" "$RUN/pairs" --stage begin \
        --seconds 100 ${READING:-}
    seeds=
    for seed in 0 1 2; do
        "$PYTHON" -m training.reading.train "$WORK" "$RUN/pairs" --stage seed --seed $seed \
            --seconds 330 ${READING:-} &
        seeds="$seeds $!"
    done
    for seed in $seeds; do wait "$seed"; done
}

mean() {
    "$PYTHON" -m training.reading.train "$WORK" "$RUN/pairs" --stage mean ${READING:-}
    cp "$RUN"/pairs/pairs-?.safetensors "$RUN/pairs/pairs.json" "$RUN/out"
    give "$RUN"/pairs/pairs-?.safetensors "$RUN/pairs/pairs.json"
}

export_all() {
    mkdir -p "$RUN/student" "$RUN/pairs"
    cp "$RUN"/out/rows-?.safetensors "$RUN"/out/layers-?.safetensors "$RUN/student"
    cp "$RUN"/out/pairs-?.safetensors "$RUN/pairs"
    "$PYTHON" -m training.export "$RUN/base" "$RUN/student" "$RUN/shipped" \
        --tokenizer "$WORK/tokenizer.json" --pairs "$RUN/pairs"
    "$PYTHON" -m training.facets.train "$RUN/shipped"
    ls -l "$RUN/shipped"
}

[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
for stage in "$@"; do
    began=$(date +%s)
    case $stage in
    home | embedder | pairs | mean) "$stage" ;;
    export) export_all ;;
    *) echo "there is no stage $stage" >&2; exit 2 ;;
    esac
    echo "=== $stage: $(($(date +%s) - began)) s"
done
