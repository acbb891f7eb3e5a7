import type { Database } from '@sluice/database';

type Plugin = Parameters<Database['withPlugin']>[0];
type Statement = ReturnType<ReturnType<Database['getExecutor']>['compileQuery']>;

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

/** A database that notes each statement before it runs it. */
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
  return { db: db.withPlugin(plugin), statements };
}

/** The names of the indexes that these statements are answered from, as Postgres plans them now. */
export async function findIndexes(db: Database, statements: readonly Statement[]): Promise<string[]> {
  const names = new Set<string>();
  for (const statement of statements) {
    for (const node of await explain(db, statement)) if (node['Index Name']) names.add(node['Index Name']);
  }
  return [...names].sort();
}

/**
 * What of these statements would go through a whole table, or a whole index, as Postgres plans them now: a scan without
 * a condition that an index is searched by.
 */
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

/** Every node of the plan. */
async function explain(db: Database, statement: Statement): Promise<PlanNode[]> {
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': { Plan: PlanNode }[] }>({
    ...statement,
    sql: `explain (format json) ${statement.sql}`,
  });
  const withAllBelow = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(withAllBelow)];
  return rows.flatMap((row) => row['QUERY PLAN']).flatMap(({ Plan }) => withAllBelow(Plan));
}
