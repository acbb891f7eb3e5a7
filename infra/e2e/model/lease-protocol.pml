/*
 * The lease protocol that keeps caches coherent, for spin: two holders of caches, one key, two changes of its value
 * (0 -> 1 -> 2), each with a writer of its own. README.md says what is left out and why that hides nothing.
 *
 * Every process may stop at any point for any time: nothing here ever has to happen. A line "@ ..." that a step prints
 * is what main.ts shows of a counter-example.
 */

#ifndef LEASE
#define LEASE 2     /* in ticks of the clock; at most 3 */
#endif
#ifndef HOLDERS
#define HOLDERS 2
#endif
#define NO_VALUE 3
#define NEWEST 2
#define NO_STRAY 3

/* What a writer has done. A change that is committed is also announced: see README.md. */
#define IDLE 0
#define COMMITTED 1
#define WAITING 2   /* it has read the lease rows */
#define ANSWERED 3

/* The one statement, a registration or a renewal, that a holder has under way. */
#define NOTHING 0
#define SENT 1
#define EXECUTED 2
#define REFUSED 3   /* there was no such row */

/* Sets of changes, as bits. */
#define only(change) (1 << ((change) - 1))
#define has(set, change) (((set) >> ((change) - 1)) & 1)
#define add(set, change) set = set | only(change)
#define remove(set, change) set = set & ~only(change)

typedef Row {                     /* of cache_leases, and what writers know of it */
  unsigned exists : 1;
  unsigned expiresIn : 2;         /* by the database's clock; 0: it has expired */
  unsigned mailbox : 2;
  unsigned awaited : 2;           /* changes whose writers wait for this row */
  unsigned posted : 2;            /* of these, which their writers have put into the mailbox */
  unsigned noted : 2;             /* changes that were acknowledged before their writers read the rows */
}

typedef Holder {
  unsigned registered : 1;
  unsigned validFor : 2;          /* what it believes of its lease, by its own clock */
  unsigned cached : 2 = NO_VALUE;
  unsigned read : 2 = NO_VALUE;   /* the value that a fill under way has read */
  unsigned statement : 2;
  unsigned age : 2;               /* of the statement, since it was sent; LEASE stands for all from there */
  unsigned told : 2;              /* the mailbox, as the answer that is under way says */
  unsigned handled : 2;           /* what the next renewal takes out of the mailbox */
#ifndef EAGER
  unsigned acknowledging : 2;     /* acknowledgements under way over Redis */
#endif
#ifdef WITHOUT_ROW_CLOCK
  unsigned stray : 2 = NO_STRAY;  /* age of a renewal that it gave up and that is still on its way */
#endif
}

Row row[2];
Holder holder[2];
unsigned value : 2;
unsigned answered : 2;            /* the newest change whose writer has answered */
byte writer[3];                   /* by change: 1 and 2 */

/*
 * EAGER is for two holders. What a writer would find when it looks is applied as soon as it is so, since it stays so
 * and the writer may be slow anyway; and what cannot matter to a writer any more is forgotten.
 */
inline settled(h, change) {
  remove(row[h].awaited, change);
  remove(row[h].posted, change);
  remove(row[h].noted, change);
#ifdef EAGER
  remove(row[h].mailbox, change);
  remove(holder[h].told, change);
  remove(holder[h].handled, change);
#endif
}

inline readRow(h, change) {
  if
  :: row[h].exists && !has(row[h].noted, change) -> add(row[h].awaited, change)
  :: else -> settled(h, change)
  fi
}

inline acknowledged(h, change) {
  if
  :: row[h].exists && writer[change] == COMMITTED -> add(row[h].noted, change)
  :: writer[change] == WAITING -> settled(h, change)
  :: else
  fi
}

inline removeRow(h) {
  row[h].exists = 0;
  row[h].expiresIn = 0;
  row[h].mailbox = 0;
  row[h].awaited = 0;
  row[h].posted = 0;
  row[h].noted = 0;
#ifdef EAGER
  holder[h].told = 0;
  holder[h].handled = 0;
#endif
}

/* What a holder does about a change that it learns of. */
inline drop(h) {
  holder[h].cached = NO_VALUE;
#ifndef WITHOUT_FILL_GUARD
  holder[h].read = NO_VALUE;      /* whatever it read is not installed, and not joined by later reads */
#endif
}

inline endStatement(h) {
  holder[h].statement = NOTHING;
  holder[h].age = 0;
  holder[h].told = 0;
}

/* The lease is lost: nothing is left of it in the holder. */
inline loseLease(h) {
  holder[h].registered = 0;
  holder[h].validFor = 0;
  holder[h].handled = 0;
  drop(h)
}

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
#define h (HOLDERS + 1 - _pid)
#define number (h + 1)

#ifdef EAGER
#define ACKNOWLEDGE(change) acknowledged(h, change)
#define ACKNOWLEDGEMENT(change)
#define lookFor(change) \
  if :: has(row[h].awaited, change) && has(row[h].posted, change) && !has(row[h].mailbox, change) -> \
       settled(h, change) \
  :: else fi
#else
#define ACKNOWLEDGE(change) add(holder[h].acknowledging, change)
#define ACKNOWLEDGEMENT(change) \
  :: d_step { has(holder[h].acknowledging, change) -> \
       remove(holder[h].acknowledging, change); \
       acknowledged(h, change); \
       printf("@ writer %d: is told that holder %d has dropped value %d\n", change, number, change - 1) } \
  :: d_step { has(holder[h].acknowledging, change) -> \
       remove(holder[h].acknowledging, change); \
       printf("@ holder %d: its acknowledgement of change %d is lost\n", number, change) }
#define lookFor(change) skip
#endif

#define ANNOUNCEMENT(change) \
  :: d_step { holder[h].registered && writer[change] != IDLE -> \
       drop(h); \
       ACKNOWLEDGE(change); \
       printf("@ holder %d: hears of change %d, drops what it has cached, acknowledges\n", number, change) } \
  ACKNOWLEDGEMENT(change)

#ifdef WITHOUT_SEND_TIME
#define validAfter(age) LEASE
#else
#define validAfter(age) (LEASE - age)
#endif

/*
 * The database may read its clock some time before others see what it wrote. To read it as early as can be, when the
 * statement was sent, and as late as can be are the two extremes.
 */
inline executeRegistration(expiry) {
  removeRow(h);                   /* a row under an older id is left to run out, and does no more harm */
#ifndef EAGER
  holder[h].acknowledging = 0;
#endif
  row[h].exists = 1;
  row[h].expiresIn = expiry;
  holder[h].statement = EXECUTED;
  printf("@ database: inserts the row of holder %d, which expires in %d\n", number, row[h].expiresIn)
}

inline executeRenewal(expiry) {
  row[h].expiresIn = expiry;
  row[h].mailbox = row[h].mailbox & ~holder[h].handled;
  lookFor(1);
  lookFor(2);
  holder[h].told = row[h].mailbox;
  holder[h].statement = EXECUTED;
  printf("@ database: renews the row of holder %d, which expires in %d; mailbox: %d\n", number, row[h].expiresIn, row[h].mailbox)
}

#define registrationArrives (holder[h].statement == SENT && !holder[h].registered)
#define renewalArrives (holder[h].statement == SENT && holder[h].registered)

/* A fill begins under a lease that is valid, and may read when it is not any more; it is modelled where it reads. */
#ifdef PLAIN
#define mayFill (holder[h].registered && holder[h].validFor > 0)
#else
#define mayFill holder[h].registered
#endif

active [HOLDERS] proctype Holder_() {
end:
  do
  /* Registration and renewal. */
  :: d_step { holder[h].statement == NOTHING ->
       holder[h].statement = SENT;
       if
       :: holder[h].registered -> printf("@ holder %d: sends a renewal\n", number)
       :: else -> printf("@ holder %d: sends a registration\n", number)
       fi }
  :: d_step { registrationArrives -> executeRegistration(LEASE) }
  :: d_step { renewalArrives && row[h].exists -> executeRenewal(LEASE) }
#ifndef PLAIN
  :: d_step { registrationArrives && holder[h].age > 0 -> executeRegistration(LEASE - holder[h].age) }
  :: d_step { renewalArrives && row[h].exists && holder[h].age > 0 -> executeRenewal(LEASE - holder[h].age) }
#endif
#ifdef WITHOUT_UPDATE_ONLY
  :: d_step { renewalArrives && !row[h].exists ->
       row[h].exists = 1;
       executeRenewal(LEASE) }
#else
  :: d_step { renewalArrives && !row[h].exists ->
       holder[h].statement = REFUSED;
       holder[h].age = 0;
       printf("@ database: has no row of holder %d to renew\n", number) }
#endif
  :: d_step { holder[h].statement == EXECUTED ->
       if
       :: holder[h].told != 0 -> drop(h)
       :: else
       fi;
       holder[h].handled = holder[h].told;
       holder[h].validFor = validAfter(holder[h].age);
       holder[h].registered = 1;
       endStatement(h);
       printf("@ holder %d: is answered, counts its lease as valid for %d\n", number, holder[h].validFor) }
  :: d_step { holder[h].statement == REFUSED ->
       loseLease(h);
       endStatement(h);
       printf("@ holder %d: learns that its row is gone, empties its cache\n", number) }
  :: d_step { holder[h].statement != NOTHING ->
#ifdef WITHOUT_ROW_CLOCK
       if
       :: renewalArrives -> holder[h].stray = holder[h].age
       :: else
       fi;
#endif
       endStatement(h);
       printf("@ holder %d: gives up its statement: it, or the answer to it, is lost or late\n", number) }
#ifdef WITHOUT_ROW_CLOCK
  :: d_step { holder[h].stray != NO_STRAY && row[h].exists ->
       row[h].expiresIn = LEASE - holder[h].stray;
       holder[h].stray = NO_STRAY;
       printf("@ database: executes the renewal that holder %d gave up; the row expires in %d\n", number, row[h].expiresIn) }
#elif !defined(PLAIN)
  :: d_step { holder[h].registered && row[h].exists ->
       row[h].expiresIn = LEASE;
       printf("@ database: executes a renewal that holder %d gave up; the row expires in %d\n", number, LEASE) }
#endif

  /* Announcements. */
  ANNOUNCEMENT(1)
  ANNOUNCEMENT(2)

  /* The cache. Nothing can make the newest value old, so it is not looked at. */
  :: d_step { mayFill && holder[h].cached == NO_VALUE && holder[h].read == NO_VALUE && value != NEWEST ->
       holder[h].read = value;
       printf("@ holder %d: a fill begins and reads value %d\n", number, value) }
  :: d_step { holder[h].read != NO_VALUE ->
       holder[h].cached = holder[h].read;
       holder[h].read = NO_VALUE;
       printf("@ holder %d: the fill ends, value %d is cached\n", number, holder[h].cached) }
  :: d_step { holder[h].cached != NO_VALUE || holder[h].read != NO_VALUE ->
       holder[h].cached = NO_VALUE;
       holder[h].read = NO_VALUE;
       printf("@ holder %d: the value is evicted, or the fill fails\n", number) }

  /* Its end. It starts again by registering under another id. */
  :: d_step { holder[h].registered || holder[h].statement != NOTHING ->
       loseLease(h);
       holder[h].read = NO_VALUE;
       endStatement(h);
       printf("@ holder %d: crashes; its row remains\n", number) }
  :: d_step { holder[h].registered ->
       loseLease(h);
       holder[h].read = NO_VALUE;
       endStatement(h);
       removeRow(h);
       printf("@ holder %d: stops in order and deletes its row\n", number) }

#if !defined(WITHOUT_DELETE) && !defined(PLAIN)
  /* By the writer of a change to another key. */
  :: d_step { row[h].exists && row[h].expiresIn == 0 ->
       removeRow(h);
       printf("@ database: another writer deletes the row of holder %d, which has expired\n", number) }
#endif

  /* The promise: what must never happen. */
  :: d_step { holder[h].validFor > 0 && holder[h].cached != NO_VALUE && holder[h].cached < answered ->
       printf("@ holder %d: SERVES VALUE %d FROM ITS CACHE under a lease it believes valid for %d\n", number, holder[h].cached, holder[h].validFor);
       assert(false) }
#ifndef PLAIN
  :: d_step { holder[h].validFor > 0 && holder[h].read != NO_VALUE && holder[h].read < answered ->
       printf("@ holder %d: SERVES VALUE %d TO A READ THAT JOINS ITS FILL under a lease it believes valid for %d\n", number, holder[h].read, holder[h].validFor);
       assert(false) }
#endif
  od
}

#undef h

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
