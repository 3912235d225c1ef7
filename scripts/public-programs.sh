#!/bin/sh
# Checks the programs of bench/public/programs.tsv with default options and prints a table.
#
#     scripts/public-programs.sh DIRECTORY [MOVER] > answers.tsv
#
# DIRECTORY has a checkout of each repository of the list, at the commit in
# docs/public-programs.md, under the last part of its name (sv-benchmarks as sv).
# The columns: repository, arguments, expected verdict, exit code, seconds, last line, first error.
set -u
list=$(cd "$(dirname "$0")/.." && pwd)/bench/public/programs.tsv
directory=$1
mover=${2:-mover}
case $mover in */*) mover=$(cd "$(dirname "$mover")" && pwd)/$(basename "$mover") ;; esac
tab=$(printf '\t')
said=$(mktemp)
trap 'rm -f "$said"' EXIT
cd "$directory" || exit 1
while IFS=$tab read -r repository arguments expected; do
    begun=$(date +%s%N)
    # The arguments are words; none of them has a space.
    # shellcheck disable=SC2086
    all=$(timeout 60 "$mover" check --timeout 10 --memory 1500 $arguments 2>"$said" </dev/null)
    code=$?
    last=$(printf '%s\n' "$all" | tail -n 1)
    ended=$(date +%s%N)
    error=$(grep -m 1 -E 'error|panicked' "$said" | cut -c 1-120)
    printf '%s\t%s\t%s\t%s\t%s.%s\t%s\t%s\n' "$repository" "$arguments" "$expected" "$code" \
        $(((ended - begun) / 1000000000)) $(((ended - begun) / 100000000 % 10)) \
        "$(printf '%s' "$last" | cut -c 1-120)" "$error"
done <"$list"
