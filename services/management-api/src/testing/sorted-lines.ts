/** Rows as text in an order of their own, since Postgres gives equal tables in any order. */
export const sortedLines = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).sort();
