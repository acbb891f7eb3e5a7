/* What there is, and the effects that a step of one process has on what another sees. */

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
