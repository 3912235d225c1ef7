/*
 * A server that hands out private channels (channels sent in messages)
 *
 * Clients send their own reply channel with a request. The server passes on
 * the channel of a free agent; client and agent then talk to each other
 * directly until the client hangs up and the agent reports back.
 * Asserted: an agent has one client at a time, and a client gets the answer
 * to its own question.
 *
 * expect: safe
 * scale: -DCLIENTS=4 -DAGENTS=2
 */

#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef AGENTS
#define AGENTS 2
#endif

chan request = [0] of { chan };		/* reply channel of the client */
chan free = [AGENTS] of { chan };	/* channels of the free agents */

proctype Agent()
{
	chan talk = [0] of { byte, chan };
	chan answer;
	byte q, client;

	free!talk;
	do
	:: talk?q, answer ->
		if
		:: q == 0 ->		/* hung up */
			client = 0;
			free!talk
		:: q != 0 ->
			assert(client == 0 || client == q);
			client = q;
			answer!q
		fi
	od
}

proctype Client(byte name)
{
	chan reply = [0] of { chan };
	chan answer = [0] of { byte };
	chan agent;
	byte a;

	do
	:: request!reply;
	   reply?agent;
	   do
	   :: agent!name, answer;
	      answer?a;
	      assert(a == name)
	   :: agent!0, answer;
	      break
	   od
	od
}

active proctype Server()
{
	chan client, agent;
	byte i;

	atomic {
		for (i : 1 .. CLIENTS) {
			run Client(i)
		}
		for (i : 1 .. AGENTS) {
			run Agent()
		}
	}
	do
	:: free?agent;
	   request?client;
	   client!agent
	od
}
