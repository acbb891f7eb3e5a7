/** A stack for the whole test file: what `open` puts on it is closed after the last test. */
export function useStack<T>(open: (stack: AsyncDisposableStack) => Promise<T>): { readonly current: T } {
  const stack = new AsyncDisposableStack();
  const holder: { value?: T } = {};
  beforeAll(async () => {
    holder.value = await open(stack);
  });
  afterAll(() => stack.disposeAsync());
  return {
    get current(): T {
      if (holder.value === undefined) throw new Error('used before beforeAll() has run');
      return holder.value;
    },
  };
}
