/* The writer of a change, or the relay that takes its place. */

#ifdef WITHOUT_BARRIER
#define mayAnswer(change) true
#else
#define mayAnswer(change) (!has(row[0].awaited, change) && !has(row[1].awaited, change))
#endif

/* What a writer does about one row. */
#ifdef WITHOUT_DELETE
#define PASS_EXPIRED(h) \
  :: d_step { has(row[h].awaited, change) && !has(row[h].mailbox, change) && row[h].expiresIn == 0 -> \
       settled(h, change); \
       printf("@ writer %d: sees that the lease of holder %d has expired, leaves the row\n", change, h + 1) }
#else
#define PASS_EXPIRED(h) \
  :: d_step { has(row[h].awaited, change) && row[h].expiresIn == 0 -> \
       removeRow(h); \
       printf("@ writer %d: deletes the row of holder %d, which has expired\n", change, h + 1) }
#endif
#ifdef EAGER
#define LOOK(h)
#else
#define LOOK(h) \
  :: d_step { has(row[h].awaited, change) && has(row[h].posted, change) && !has(row[h].mailbox, change) -> \
       settled(h, change); \
       printf("@ writer %d: finds that its change is no longer in the mailbox of holder %d\n", change, h + 1) }
#endif
#define ROW(h) \
  :: d_step { has(row[h].awaited, change) && !has(row[h].posted, change) -> \
       add(row[h].posted, change); \
       add(row[h].mailbox, change); \
       printf("@ writer %d: posts its change to the mailbox of holder %d\n", change, h + 1) } \
  LOOK(h) \
  PASS_EXPIRED(h)

#define change (_pid + 1)

active [2] proctype Writer() {
end:
  do
  :: d_step { writer[change] == IDLE && value == change - 1 ->
       value = change;
       writer[change] = COMMITTED;
       printf("@ writer %d: commits value %d and announces it\n", change, change) }
  :: d_step { writer[change] == COMMITTED ->
       writer[change] = WAITING;
       readRow(0, change);
       readRow(1, change);
       printf("@ writer %d: reads the lease rows\n", change) }
  :: d_step { writer[change] == WAITING && mayAnswer(change) ->
       writer[change] = ANSWERED;
       answered = (answered > change -> answered : change);
       settled(0, change);
       settled(1, change);
       printf("@ writer %d: ANSWERS that value %d is in force\n", change, change) }
  :: d_step { writer[change] == WAITING ->
       writer[change] = COMMITTED;
       settled(0, change);
       settled(1, change);
       printf("@ writer %d: dies; a relay announces the change anew\n", change) }
  ROW(0)
  ROW(1)
  od
}

#undef change
