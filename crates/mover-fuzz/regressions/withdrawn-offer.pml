/* By hand: whoever stands at a receive without buffer can be met there, and a step of its own
   withdraws that. If the step counts as one that moves, the deadlock of the sender is lost. */
chan r = [0] of { byte };
byte x;

active proctype Receiver() {
    byte got;
    do
    :: r?got -> break
    :: x == 0 -> x = 1; break
    od
}

active proctype Sender() {
    r!1
}
