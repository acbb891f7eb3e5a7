/** Opens once for the whole test file, and closes after its last test. `timeoutMs` is for a slow `open`. */
export function useStack<T>(
  open: (stack: AsyncDisposableStack) => Promise<T>,
  timeoutMs?: number,
): { readonly current: T } {
  const stack = new AsyncDisposableStack();
  const holder: { value?: T } = {};
  beforeAll(async () => {
    holder.value = await open(stack);
  }, timeoutMs);
  afterAll(async () => {
    await stack.disposeAsync();
    delete holder.value; // the file's module stays loaded, and would keep what its tests recorded
  });
  return {
    get current(): T {
      if (holder.value === undefined) throw new Error('used before beforeAll() has run');
      return holder.value;
    },
  };
}
