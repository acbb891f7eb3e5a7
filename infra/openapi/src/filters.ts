import { type FilterRecord, filterRecords, longestGrown } from '@sluice/vault';

/** How expressions are written, with every filter: a chapter of the reference, and FILTERS.md. */
export function describeFilters(): string {
  return `
## Filters

An expression \`{{ <token id> | filter: argument, argument | filter }}\` inserts a part of the value of a token, or the value in another form. Masks,
search indexes and fingerprints use a path such as \`data.number\` instead of the id. Arguments are quoted text, numbers, \`true\`,
\`false\` and \`nil\`. An expression may be only a quoted text, so you can send braces: \`{{ '{{' }}\`. Card filters ignore blanks and dashes.

| Filter: arguments | Gives | Example |
|---|---|---|
${filterRecords.map(row).join('\n')}

**A faulty expression** is 400 and names the character where it begins: \`there is no filter …\`,
\`a filter takes quoted text and numbers only\`, \`it has more than 10 filters\`, \`it is not closed with }}\`, \`it names nothing\`,
or what its arguments must be.

**A value never influences the response**, because a caller who may use a token but not read it could learn about it. A
filter that cannot process the value gives null if the expression is a whole JSON string, otherwise empty text. The same happens in all
filters after 8 Mi characters in one request, and in \`split\`, \`join\` and \`replace\` if the result would be longer than both the value and
${longestGrown / 1024} Ki characters (\`split\`: if the value is). Filters that Liquid does not have return null for null.
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
