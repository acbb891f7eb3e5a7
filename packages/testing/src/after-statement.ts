import type { Database } from '@sluice/database';

/** The same database, where `act` happens as soon as the statement of this number, from 1, is answered. */
export function afterStatement(db: Database, number: number, act: () => Promise<unknown>): Database {
  let answered = 0;
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      answered += 1;
      if (answered === number) await act();
      return result;
    },
  });
}
