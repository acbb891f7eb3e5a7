import type { Database, Queryable } from '@sluice/database';

type Plugin = Parameters<Database['withPlugin']>[0];
type Statement = ReturnType<ReturnType<Database['getExecutor']>['compileQuery']>;

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

export function recordStatements(db: Database): { db: Database; statements: Statement[] } {
  const statements: Statement[] = [];
  const executor = db.getExecutor();
  const plugin: Plugin = {
    transformQuery({ node, queryId }) {
      statements.push(executor.compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const recorded = db.withPlugin(plugin);
  // Named statements were compiled before, and pass no plugin.
  recorded.executeQuery = (query) => {
    statements.push(query as Statement);
    return db.executeQuery(query);
  };
  return { db: recorded, statements };
}

/** The names of the indexes in Postgres's present plans for these statements. */
export async function findIndexes(db: Database, statements: readonly Statement[]): Promise<string[]> {
  const names = new Set<string>();
  for (const statement of statements) {
    for (const node of await explain(db, statement)) if (node['Index Name']) names.add(node['Index Name']);
  }
  return [...names].sort();
}

/** Scans in Postgres's present plans that read a whole table, or a whole index for want of a condition. */
export async function findFullScans(db: Database, statements: readonly Statement[]): Promise<string[]> {
  const found: string[] = [];
  for (const statement of statements) {
    for (const node of await explain(db, statement)) {
      const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, 'Index Cond': condition } = node;
      if (type !== 'Seq Scan' && (index === undefined || condition !== undefined)) continue;
      found.push(`${type} of ${index ?? table}: ${statement.sql.replace(/\s+/g, ' ').trim()}`);
    }
  }
  return found;
}

/** Counts rows of tables and indexes by running each statement again; outside a transaction its changes are undone. */
export async function countRowsRead(db: Database, statements: readonly Statement[]): Promise<number[]> {
  if (db.isTransaction) return countWithin(db, statements);
  const tx = await db.startTransaction().execute();
  try {
    return await countWithin(tx, statements);
  } finally {
    await tx.rollback().execute();
  }
}

/** Counts the pages of tables, indexes and large values that Postgres looks at to run these statements again. */
export async function countBuffers(db: Queryable, statements: readonly Statement[]): Promise<number> {
  let buffers = 0;
  for (const statement of statements) {
    const [all] = await explain(db, statement, 'analyze, buffers, timing off, costs off, ');
    buffers += (all?.['Shared Hit Blocks'] ?? 0) + (all?.['Shared Read Blocks'] ?? 0);
  }
  return buffers;
}

async function countWithin(tx: Queryable, statements: readonly Statement[]): Promise<number[]> {
  const counts: number[] = [];
  for (const statement of statements) {
    const nodes = await explain(tx, statement, 'analyze, timing off, costs off, ');
    counts.push(nodes.map(rowsOfScan).reduce((sum, rows) => sum + rows, 0));
  }
  return counts;
}

/** A bitmap's index scans count as the rows that the heap gives for them. */
function rowsOfScan(node: PlanNode): number {
  const isOfTable = node['Relation Name'] !== undefined && node['Node Type'].endsWith('Scan');
  if (!isOfTable) return 0;
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return ((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 0);
}

async function explain(db: Queryable, statement: Statement, options = ''): Promise<PlanNode[]> {
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': { Plan: PlanNode }[] }>({
    ...statement,
    sql: `explain (${options}format json) ${statement.sql}`,
  });
  const withAllBelow = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(withAllBelow)];
  return rows.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => withAllBelow(Plan));
}
