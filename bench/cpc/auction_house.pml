/*
 * An auction as a workflow
 *
 * A seller and a buyer hand in their sides of an auction in either order; the
 * house matches them by their number, asks a registration service for a receipt,
 * and answers both. Each partner does some steps of its own between messages.
 * Nothing happens twice, so there are hardly any cycles. Asserted: both sides
 * get the same receipt, and the price is the buyer's.
 *
 * In the manner of a row of Table 1 of "Sound Transaction-based Reduction
 * without Cycle Detection" (AuctionHouse, there translated from BPEL).
 *
 * expect: safe
 */

#ifndef PRICES
#define PRICES 2
#endif

mtype = { offer, bid, receipt, refusal };

chan house = [2] of { mtype, byte, byte };	/* kind, auction, price */
chan to_seller = [1] of { mtype, byte, byte };	/* kind, auction, receipt */
chan to_buyer = [1] of { mtype, byte, byte };
chan register = [1] of { byte, byte };		/* auction, price */
chan registered = [1] of { byte };

byte agreed;

active proctype Seller()
{
	byte auction, price, got;
	mtype kind;

	auction = 1;
	price = 1;
	house!offer, auction, price;
	to_seller?kind, auction, got;
	if
	:: kind == receipt -> assert(got == agreed && auction == 1)
	:: else -> assert(got == 0)
	fi
}

active proctype Buyer()
{
	byte auction, price, got;
	mtype kind;

	auction = 1;
	if
	:: price = 0
	:: price = 1
	:: price = PRICES
	fi;
	house!bid, auction, price;
	to_buyer?kind, auction, got;
	if
	:: kind == receipt -> assert(got == agreed && price > 0)
	:: else -> assert(got == 0)
	fi
}

active proctype House()
{
	byte auction, other, asked, bidden, got, count;
	mtype kind;

	do
	:: count < 2 ->
		house?kind, auction, got;
		if
		:: kind == offer -> asked = got
		:: kind == bid -> bidden = got
		fi;
		got = 0;
		if
		:: count == 0 -> other = auction
		:: else -> assert(other == auction)
		fi;
		count++
	:: else -> break
	od;
	if
	:: bidden >= asked ->
		register!auction, bidden;
		registered?got;
		kind = receipt
	:: else -> kind = refusal
	fi;
	if
	:: to_seller!kind, auction, got;
		to_buyer!kind, auction, got
	:: to_buyer!kind, auction, got;
		to_seller!kind, auction, got
	fi
}

active proctype Registration()
{
	byte auction, price, number;

end:
	register?auction, price;
	number = auction * 16;
	number = number + price;
	agreed = number;
	registered!number
}
