active proctype p() {
    if :: true -> { skip
    fi
}
init { skip }
