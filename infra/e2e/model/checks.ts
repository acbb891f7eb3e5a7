export interface Check {
  name: string;
  what: string;
  /** Whether the promise must hold; where it must not, a counter-example is looked for. */
  mustHold: boolean;
  switches: string[];
  quickSwitches?: string[];
}

/**
 * Counter-examples are searched for in the model as it is in every detail, less what would make them odd to read
 * (PLAIN). `row-clock` has one holder since its counter-example is the longest.
 */
const weakened = (name: string, what: string, holders = 2): Check => ({
  name,
  what: `without ${what}`,
  mustHold: false,
  switches: [`HOLDERS=${holders}`, 'PLAIN', `WITHOUT_${name.toUpperCase().replaceAll('-', '_')}`],
});

export const checks: readonly Check[] = [
  {
    name: 'two-holders',
    what: 'the whole protocol, two holders',
    mustHold: true,
    switches: ['HOLDERS=2', 'EAGER', 'LEASE=2'],
    quickSwitches: ['HOLDERS=2', 'EAGER', 'LEASE=1'],
  },
  {
    name: 'one-holder',
    what: 'the whole protocol in every detail, one holder',
    mustHold: true,
    switches: ['HOLDERS=1', 'LEASE=3'],
    quickSwitches: ['HOLDERS=1', 'LEASE=2'],
  },
  weakened('barrier', 'waiting: a writer announces and answers'),
  weakened('delete', 'the delete: a writer passes over an expired row and leaves it there'),
  weakened('update-only', 'update only: a renewal inserts its row where it is gone'),
  weakened('send-time', 'the time of sending: a holder counts its lease from when the answer came'),
  weakened(
    'fill-guard',
    'the fill guard: a read that was under way is cached although a change was heard of meanwhile',
  ),
  weakened('row-clock', 'the clock read under the row’s lock: a lease is counted from the start of the statement', 1),
];
