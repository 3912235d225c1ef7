/* The index of mover's own table of states, in which several threads look for words and add them
 * without locks (crates/mover-explicit/src/shared_store/slots.rs; after Laarman, van de Pol and
 * Weber 2010). A slot is empty or has an entry for ever. What an entry stands for is written
 * before the entry is published; a thread that fails to claim a slot looks at that slot again.
 * Both words have the same hash; the threads add them in opposite orders.
 * expect: safe
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SLOTS 3
#define HASH 2

static atomic_uint slots[SLOTS]; /* 0: empty; otherwise a number plus one */
static unsigned words[4];        /* by number; each thread has two numbers of its own */
static unsigned number_of[2][2]; /* what each thread found out about each word */
static unsigned is_new[2][2];

/* Looks for a word from a slot on; `spare` is a number that nobody else knows. */
static unsigned add(unsigned word, unsigned spare, unsigned *added) {
    unsigned place = HASH, is_written = 0;
    for (;;) {
        unsigned entry = atomic_load(&slots[place]);
        if (entry == 0) {
            words[spare] = word;
            is_written = 1;
            if (atomic_compare_exchange_strong(&slots[place], &entry, spare + 1)) {
                *added = 1;
                return spare;
            }
        }
        /* Here `entry` is what the slot has, whoever published it. */
        if (words[entry - 1] == word) {
            if (is_written)
                words[spare] = 0; /* for the next word */
            *added = 0;
            return entry - 1;
        }
        place = (place + 1) % SLOTS;
    }
}

static void *run(void *argument) {
    unsigned me = argument != 0, spare = 2 * me;
    for (unsigned n = 0; n < 2; n++) {
        unsigned word = n ^ me;
        number_of[me][word] = add(7 + word, spare, &is_new[me][word]);
        spare += is_new[me][word];
    }
    return 0;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, run, (void *)1);
    run(0);
    pthread_join(other, 0);
    for (unsigned word = 0; word < 2; word++) {
        assert(number_of[0][word] == number_of[1][word]);
        assert(is_new[0][word] + is_new[1][word] == 1);
        assert(words[number_of[0][word]] == 7 + word);
    }
    assert(number_of[0][0] != number_of[0][1]);
    return 0;
}
