import { type FilterRecord, filterRecords, longestGrown } from '@sluice/vault';

/** How expressions are written, with every filter: a chapter of the reference, and FILTERS.md. */
export function describeFilters(): string {
  return `
## Filters

An expression \`{{ <token id> | filter: argument, argument | filter }}\` inserts a part of the value of a token, or the value in another form. Masks,
search indexes and fingerprints use a path such as \`data.number\` instead of the id. Arguments are quoted text, numbers, \`true\`,
\`false\` and \`nil\`. Card filters ignore blanks and dashes.

If an expression contains only a quoted text, the text replaces the expression. So you can send braces: \`{{ '{{' }}\` becomes \`{{\`.

| Filter: arguments | Gives | Example |
|---|---|---|
${filterRecords.map(row).join('\n')}

**A faulty expression** is refused with 400. The message has the position of the expression and the reason: \`there is no filter …\`,
\`arguments of filters must be quoted text, numbers, true, false or nil\`, \`it has more than 10 filters\`, \`it is not closed with }}\`,
\`it is empty\`, or what the arguments of the filter must be.

**A filter never makes a request fail because of a value.** Otherwise a caller who may use a token, but not read it, could learn about
its value. A filter that cannot process the value gives null if the expression is a whole JSON string, and empty text in other places.
All filters do this after 8 Mi characters in one request. \`join\` and \`replace\` also do it if the result would be longer than both the value and
${longestGrown / 1024} Ki characters, and \`split\` if the value is longer than that. Filters that Liquid does not have return null for null.
`.trim();
}

function row({ name, takes, gives, example: { filters, data, result } }: FilterRecord): string {
  const cells = [
    `\`${name}\`${takes && `: ${takes}`}`,
    gives,
    `\`${filters}\` of \`${json(data)}\` is \`${json(result)}\``,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const json = (value: unknown) => JSON.stringify(value);
