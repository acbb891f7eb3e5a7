/** Node calls this when it shows an object: `console.log`, `util.inspect`, uncaught errors, assertions. */
const inspect = Symbol.for('nodejs.util.inspect.custom');

/** Members that contain a value of the vault, a credential, a secret for transforms, or output of a trial. */
const secretMembers = new Set([
  ...['data', 'key', 'session_key', 'nonce', 'callback_secret', 'configuration', 'url'],
  'request_headers',
  ...['result', 'console', 'error'],
]);

/** The kind of a response: a resource or a list of resources, a document with tokens anywhere in it, or a value. */
export type Content = 'resource' | 'tokens' | 'value';

/**
 * Makes an answer, and each resource in it, show itself without values and keys. Programs still see everything: members,
 * `JSON.stringify`, spreading, and `console.table`, which reads members.
 */
export function hideValues<T>(answer: T, content: Content = 'resource'): T {
  if (typeof answer !== 'object' || answer === null) return answer;
  const shown = () => (content === 'value' ? '[hidden]' : withoutValues(answer));
  Object.defineProperty(answer, inspect, { value: shown, enumerable: false });
  for (const part of partsOf(answer, content)) hideValues(part, content);
  return answer;
}

function partsOf(answer: object, content: Content): unknown[] {
  if (content === 'tokens') return Object.values(answer);
  return Array.isArray(answer) ? answer : isPage(answer) ? answer.data : [];
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
