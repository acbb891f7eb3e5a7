/** Node calls this when it shows an object: `console.log`, `util.inspect`, uncaught errors, assertions. */
const inspect = Symbol.for('nodejs.util.inspect.custom');

/** Members that hold a value of the vault, a credential, a secret for transforms, or output of a trial. */
const secretMembers = new Set([
  ...['data', 'key', 'session_key', 'nonce', 'callback_secret', 'configuration', 'url'],
  ...['result', 'console', 'error'],
]);

/**
 * Makes an answer, and each row of a list, show itself without values and keys. Programs still see everything: members,
 * `JSON.stringify`, spreading, and `console.table`, which reads members.
 */
export function hideValues<T>(answer: T, isAllValue = false): T {
  if (typeof answer !== 'object' || answer === null) return answer;
  const shown = () => (isAllValue ? '[hidden]' : withoutValues(answer));
  Object.defineProperty(answer, inspect, { value: shown, enumerable: false });
  const rows = Array.isArray(answer) ? answer : isPage(answer) ? answer.data : [];
  for (const row of rows) hideValues(row);
  return answer;
}

function withoutValues(answer: object): unknown {
  if (Array.isArray(answer)) return [...answer];
  const members = Object.entries(answer).map(([name, value]) => {
    const isRows = name === 'data' && isPage(answer);
    return [name, secretMembers.has(name) && !isRows ? '[hidden]' : value] as const;
  });
  return Object.fromEntries(members);
}

function isPage(answer: object): answer is { data: unknown[] } {
  return 'pagination' in answer && 'data' in answer && Array.isArray(answer.data);
}
