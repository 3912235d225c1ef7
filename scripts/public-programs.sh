#!/bin/sh
# Checks the programs of a list with default options and prints a table.
#
#     scripts/public-programs.sh DIRECTORY [MOVER [LIST]] > answers.tsv
#
# DIRECTORY has a checkout of each repository of the list, at the commit in
# docs/public-programs.md, under the last part of its name (sv-benchmarks as sv).
# LIST is bench/public/programs.tsv: repository, arguments, expected verdict, expected race.
# "safe@unreach-call" is an expectation about one property only. A comma in --args= stands for a space,
# @include for bench/public/include.
# The columns: those of the list, exit code, seconds, verdict without races, races, last line, first error.
set -u
directory=$1
mover=${2:-mover}
public=$(cd "$(dirname "$0")/.." && pwd)/bench/public
list=${3:-$public/programs.tsv}
case $list in /*) ;; *) list=$PWD/$list ;; esac
case $mover in */*) mover=$(cd "$(dirname "$mover")" && pwd)/$(basename "$mover") ;; esac
tab=$(printf '\t')
said=$(mktemp)
answer=$(mktemp)
trap 'rm -f "$said" "$answer"' EXIT
cd "$directory" || exit 1

# The status of a property in the answer: holds, violated or open.
status() {
    tr -d '\n' <"$answer" | grep -o "\"property\": *\"$1\", *\"status\": *\"[a-z]*\"" | head -n 1 |
        sed 's/.*"\([a-z]*\)"$/\1/'
}

while IFS=$tab read -r repository arguments expected race; do
    # The arguments are words; none of them has a space.
    set --
    for word in $arguments; do
        case $word in
            --args=*) word=$(printf '%s' "$word" | tr , ' ') ;;
            @include) word=$public/include ;;
        esac
        set -- "$@" "$word"
    done
    begun=$(date +%s%N)
    timeout 60 "$mover" check --json --timeout 10 --memory 1500 "$@" >"$answer" 2>"$said" </dev/null
    code=$?
    ended=$(date +%s%N)
    error=$(grep -m 1 -E 'error|panicked|\[[A-Z][0-9]{3}\]' "$said" | cut -c 1-120)
    reason=$(tr -d '\n' <"$answer" | grep -o '"reason": *"[^"]*"' | head -n 1 | cut -c 1-120)
    case $code in
        2) verdict=refused ;;
        0 | 5 | 10)
            verdict=safe
            asked="unreach-call no-deadlock memory-safety mutex-misuse"
            case $expected in *@*) asked=${expected#*@} ;; esac
            for property in $asked; do
                case $(status $property) in
                    violated) verdict=unsafe ;;
                    holds) ;;
                    *) [ $verdict = unsafe ] || verdict=unknown ;;
                esac
            done
            ;;
        *) verdict=failed ;;
    esac
    case $(status no-data-race) in
        holds) found=none ;;
        violated) found=race ;;
        *) found=open ;;
    esac
    printf '%s\t%s\t%s\t%s\t%s\t%s.%s\t%s\t%s\t%s\t%s\n' "$repository" "$arguments" "$expected" "$race" "$code" \
        $(((ended - begun) / 1000000000)) $(((ended - begun) / 100000000 % 10)) \
        "$verdict" "$found" "$reason" "$error"
done <"$list"
