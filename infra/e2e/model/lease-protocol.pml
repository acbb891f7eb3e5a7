/*
 * The lease protocol that keeps caches coherent, for spin: two holders of caches, one key, two changes of its value
 * (0 -> 1 -> 2), each with a writer of its own. README.md says what is left out and why that hides nothing.
 *
 * Every process may stop at any point for any time: nothing here ever has to happen. A line "@ ..." that a step prints
 * is what main.ts shows of a counter-example.
 */

#include "state.pml"
#include "writer.pml"
#include "holder.pml"

inline pass(left) { left = (left > 0 -> left - 1 : 0) }

inline grow(h) {
  if
  :: (holder[h].statement == SENT || holder[h].statement == EXECUTED) && holder[h].age < LEASE -> holder[h].age++
  :: else
  fi;
#ifdef WITHOUT_ROW_CLOCK
  if
  :: holder[h].stray < LEASE -> holder[h].stray++
  :: else
  fi
#endif
}

/* Only differences of times are kept, so that time goes on for ever in finitely many states. */
active proctype Clock() {
end:
  do
  :: d_step { true ->
       pass(row[0].expiresIn);
       pass(row[1].expiresIn);
       pass(holder[0].validFor);
       pass(holder[1].validFor);
       grow(0);
       grow(1);
       printf("@ time passes\n") }
  od
}
