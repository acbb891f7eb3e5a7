/**
 * A stack for the whole test file: what `open` puts on it is closed after the last test. `timeoutMs` is for an `open`
 * that does more than other tests do, such as to fill tables.
 */
export function useStack<T>(
  open: (stack: AsyncDisposableStack) => Promise<T>,
  timeoutMs?: number,
): { readonly current: T } {
  const stack = new AsyncDisposableStack();
  const holder: { value?: T } = {};
  beforeAll(async () => {
    holder.value = await open(stack);
  }, timeoutMs);
  afterAll(() => stack.disposeAsync());
  return {
    get current(): T {
      if (holder.value === undefined) throw new Error('used before beforeAll() has run');
      return holder.value;
    },
  };
}
