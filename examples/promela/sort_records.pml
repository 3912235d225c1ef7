/*
 * Sorting an array of records (typedef, inline, for, select, d_step)
 *
 * An array of N records with free keys in 0..MAX is sorted by insertion;
 * two records are exchanged in one step. Each record remembers its place in
 * the input.
 * Asserted: the keys are in order, the sort is stable, and no record is
 * lost or doubled.
 *
 * expect: safe
 * scale: -DN=6 -DMAX=4
 */

#ifndef N
#define N 4
#endif
#ifndef MAX
#define MAX 3
#endif

typedef Record {
	byte key;
	byte place
};

Record rec[N];

inline exchange(x, y)
{
	d_step {
		tmp.key = x.key;     tmp.place = x.place;
		x.key = y.key;       x.place = y.place;
		y.key = tmp.key;     y.place = tmp.place;
		tmp.key = 0;         tmp.place = 0
	}
}

init
{
	Record tmp;
	byte i, j, k;
	bool seen[N];

	for (i : 0 .. N - 1) {
		select (k : 0 .. MAX);
		rec[i].key = k;
		rec[i].place = i
	}

	for (i : 1 .. N - 1) {
		j = i;
		do
		:: j == 0 -> break
		:: j > 0 ->
			if
			:: rec[j - 1].key > rec[j].key ->
				exchange(rec[j - 1], rec[j]);
				j--
			:: else -> break
			fi
		od
	}

	for (i : 0 .. N - 1) {
		assert(!seen[rec[i].place]);
		seen[rec[i].place] = true
	}
	for (i : 1 .. N - 1) {
		assert(rec[i - 1].key < rec[i].key ||
		       (rec[i - 1].key == rec[i].key &&
			rec[i - 1].place < rec[i].place))
	}
}
