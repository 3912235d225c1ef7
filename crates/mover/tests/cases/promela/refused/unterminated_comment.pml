// expect: error P010
// message: unterminated comment
// message: unterminated_comment.pml:5
active proctype P() {
  /* no end
  skip
}
