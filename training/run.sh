#!/bin/sh
# New weights from nothing: `sh training/run.sh STAGE`, one stage after the other.
#
#   home      here: what is trained from, and the base model in 16 bits  (ten minutes)
#   embedder  on the GPU: the student, and the readers' first leg          (4 minutes)
#   reader    on the GPU: what reads statements and messages, some seeds at once  (3 minutes)
#   answerer  on the GPU: what reads answers, going on from each seed of the reader (2 minutes)
#   export    here: the files that are shipped, in $RUN/shipped
#
# All of it lies in $RUN, by default the ignored folder training/work: mirrors/ (the clones; or set
# MIRRORS), prepared/, base/, and what the GPU gives back in out/. A stage on the GPU needs src/,
# training/ and $RUN/prepared (60 MB), the first one also $RUN/base (45 MB); if that is too much at
# once, send it in parts. torch, numpy, onnx, tokenizers and safetensors must be there. What a stage
# has made lies in $RUN/out and, where OUT is set, in $OUT too: five files of `embedder` (47 MB),
# two of each other stage (12 MB), none over 16 MiB. Bring them back to $RUN/out before `export`.
# With SHIPPED, a folder of shipped files, `reader` and `answerer` go on from its files, and need no
# other stage before them.
#
# Where only part of a clone may travel: git sparse-checkout set src training.
# EMBEDDER and READING are more arguments for the trainers; to try the stages on a processor:
# EMBEDDER="--device cpu --steps 3 --budget 2048" READING="--device cpu --batch 16", and SECONDS_OF_LEG.
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
    "$PYTHON" -m training.answers.candidates "$WORK" training/answers/data/histories_*.txt
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
        --seconds "${STUDENT_SECONDS:-150}" --chinese-weight 0.5 ${EMBEDDER:-}
    give "$RUN"/out/rows-?.safetensors "$RUN"/out/layers-?.safetensors "$RUN/out/scores.json"
    leg begin 45 0
}

# One leg with some seeds at once, and their mean.
reader() { legs reader 130; }
answerer() { legs answerer 90; }

legs() {
    seeds=
    for seed in ${SEEDS:-0 1}; do
        leg "$1" "$2" "$seed" &
        seeds="$seeds $!"
    done
    for seed in $seeds; do wait "$seed"; done
    read_pairs --mean "$1"
    give "$RUN/reading/$1.onnx" "$RUN/reading/$1.json"
    cp "$RUN/reading/$1.onnx" "$RUN/reading/$1.json" "$RUN/out"
}

leg() { read_pairs --leg "$1" --seconds "${SECONDS_OF_LEG:-$2}" --seed "$3"; }

read_pairs() {
    "$PYTHON" -m training.reading.train "$WORK" "$RUN/reading" "$@" \
        ${SHIPPED:+--shipped "$SHIPPED"} ${READING:-}
}

export_all() {
    mkdir -p "$RUN/student"
    cp "$RUN"/out/rows-?.safetensors "$RUN"/out/layers-?.safetensors "$RUN/student"
    "$PYTHON" -m training.export "$RUN/base" "$RUN/student" "$RUN/shipped" \
        --tokenizer "$WORK/tokenizer.json" --readers "$RUN"/out/*.onnx
    "$PYTHON" -m training.facets.train "$RUN/shipped"
    ls -l "$RUN/shipped"
}

[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
for stage in "$@"; do
    began=$(date +%s)
    case $stage in
    home | embedder | reader | answerer) "$stage" ;;
    export) export_all ;;
    *) echo "there is no stage $stage" >&2; exit 2 ;;
    esac
    echo "=== $stage: $(($(date +%s) - began)) s"
done
