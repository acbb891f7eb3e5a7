/** Bytes of every request body. */
export const bodySize = 210;

/** Adds a member that makes the JSON `bodySize` bytes long. @throws where it is too long already. */
export function fillUp<T extends object>(body: T): T & { reference: string } {
  const missing = bodySize - JSON.stringify({ ...body, reference: '' }).length;
  if (missing < 0) throw new Error(`The body has ${-missing} bytes too many`);
  return { ...body, reference: 'x'.repeat(missing) };
}
