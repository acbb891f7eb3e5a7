/* A process that caches, its row in the database, and what reaches it. */

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
       printf("@ holder %d: hears of change %d, drops the value, acknowledges\n", number, change) } \
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
  printf("@ database: renews the row of holder %d, which expires in %d; its mailbox names %d changes\n", number, row[h].expiresIn, has(row[h].mailbox, 1) + has(row[h].mailbox, 2))
}

#define registrationArrives (holder[h].statement == SENT && !holder[h].registered)
#define renewalArrives (holder[h].statement == SENT && holder[h].registered)

/* A fill begins under a lease that is valid, and may read when it is not any more; it is modelled where it reads. */
#ifdef PLAIN
#define mayFill (holder[h].registered && holder[h].validFor > 0)
#else
#define mayFill holder[h].registered
#endif

active [HOLDERS] proctype HolderProcess() {
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
