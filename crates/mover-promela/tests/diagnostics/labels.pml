active proctype p() {
    goto nowhere;
    again: skip;
    again: skip;
    { first: skip };
    break
}
