/** Waits until the condition holds; fails after twenty seconds, naming it. */
export async function eventually(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`did not come within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
