import { type FilterRecord, filterRecords, longestGrown } from '@sluice/vault';

/** How expressions are written, with every filter: a chapter of the reference, and FILTERS.md. */
export function describeFilters(): string {
  return `
## Filters

An expression \`{{ <token id> | filter: argument, argument | filter }}\` inserts a part or another form of a token's value. Masks,
search indexes and fingerprints have the same filters, with a path such as \`data.number\` instead of the id. Arguments are quoted
text, numbers, \`true\`, \`false\` and \`nil\`. A quoted text alone stands for itself, so that braces can be sent: \`{{ '{{' }}\`.

| Filter | Arguments | Gives | Example |
|---|---|---|---|
${filterRecords.map(row).join('\n')}

**A fault of the expression itself** is 400 and names the character where it begins: \`there is no filter …\`,
\`a filter takes quoted text and numbers only\`, \`it has more than 10 filters\`, \`it is not closed with }}\`, \`it names nothing\`,
or what its arguments must be.

**A value never influences the response**, because a caller who may use a token but not read it could otherwise learn about it. A
filter that cannot work on the value gives null where the expression is a whole JSON string, and empty text elsewhere; so do the filters of a
request that has processed more than 8 Mi characters, and \`split\`, \`join\` and \`replace\` where the result would be longer than both the
value and ${longestGrown / 1024} Ki characters (\`split\`: where the value is). Filters that Liquid does not have keep null as null.
`.trim();
}

function row({ name, takes, gives, example: { filters, data, result } }: FilterRecord): string {
  const cells = [`\`${name}\``, takes, gives, `\`${filters}\` of \`${json(data)}\` is \`${json(result)}\``];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const json = (value: unknown) => JSON.stringify(value);
