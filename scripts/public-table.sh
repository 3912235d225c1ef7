#!/bin/sh
# Prints the tables of docs/public-programs.md.
#
#     scripts/public-table.sh ANSWERS
#
# ANSWERS is what scripts/public-programs.sh prints. bench/public/before.tsv has the verdicts of the oldest
# commit in the table: program, verdict, seconds. It did not look for data races.
set -eu
before=$(cd "$(dirname "$0")/.." && pwd)/bench/public/before.tsv
awk -F '\t' '
# The files of a program, without options.
function files(arguments,    words, n, i, out, skip) {
    n = split(arguments, words, " ")
    for (i = 1; i <= n; i++) {
        if (skip) { skip = 0; continue }
        if (words[i] == "-I") { skip = 1; continue }
        if (words[i] ~ /^--args=/) { gsub(",", " ", words[i]); out = out (out ? " " : "") "`" words[i] "`"; continue }
        if (words[i] ~ /^-/) continue
        out = out (out ? " " : "") words[i]
    }
    return out
}
FNR == NR { verdict[$1] = $2; seconds[$1] = $3; next }
{
    name = files($2)
    old = name in verdict ? verdict[name] : "-"
    spent = name in seconds ? seconds[name] : "-"
    if (old != "-") { befores[old]++; same[$7]++ }
    split($3, wanted, "@")
    expected = wanted[1]
    after[$7]++
    races[$8]++
    total++
    note = ""
    if (expected != "-" && ($7 == "safe" || $7 == "unsafe")) {
        judged++
        if ($7 == expected) right++; else note = "not as expected"
    }
    if ($4 != "-" && ($8 == "none" || $8 == "race")) {
        judged_races++
        if ($8 == $4) right_races++; else note = "race not as expected"
    }
    error = $7 == "refused" ? ($10 ? $10 : $9) : ""
    sub(/^.*error[^:]*: /, "", error)
    gsub(/[|]/, "/", error)
    gsub(/^"reason": *"|"$/, "", error)
    if (error) note = note (note ? "; " : "") substr(error, 1, 90)
    of = wanted[2] ? " (" wanted[2] ")" : ""
    row[total] = "| " name " | " expected of ", " $4 " | " old " | " $7 ", " $8 " | " spent ", " $6 " | " note " |"
}
END {
    print "| | programs | safe | unsafe | unknown | refused | failed |"
    print "|---|---|---|---|---|---|---|"
    n = befores["safe"] + befores["unsafe"] + befores["unknown"] + befores["refused"] + befores["failed"]
    printf "| before | %d | %d | %d | %d | %d | %d |\n", n, befores["safe"], befores["unsafe"], befores["unknown"], befores["refused"], befores["failed"]
    printf "| after, the same programs | %d | %d | %d | %d | %d | %d |\n", n, same["safe"], same["unsafe"], same["unknown"], same["refused"], same["failed"]
    printf "| after, all | %d | %d | %d | %d | %d | %d |\n\n", total, after["safe"], after["unsafe"], after["unknown"], after["refused"], after["failed"]
    printf "Data races after: %d programs without, %d with one, %d open or refused.\n", races["none"], races["race"], races["open"]
    printf "Of the %d programs with an expected verdict that are answered, %d are answered as expected; ", judged, right
    printf "of the %d with an expectation about races, %d.\n\n", judged_races, right_races
    print "| program | expected: verdict, race | before | after: verdict, race | seconds before, after | remark |"
    print "|---|---|---|---|---|---|"
    for (i = 1; i <= total; i++) print row[i]
}' "$before" "$1"
