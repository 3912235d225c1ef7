/* A receive that names too many fields ends the search there, if the first ones match. */
chan c = [1] of { byte, byte };
active proctype P()
{
	byte x;
	if
	:: c?2,_,x
	:: c!1,2
	fi
}
active proctype Q() { c?1,_,_ }
