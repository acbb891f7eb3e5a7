/** Jest's globalTeardown: stops what stores-for-tests.ts started, and removes its folder. */
export default async function stopStoresForTests(): Promise<void> {
  await globalThis.storesForTests?.disposeAsync();
}
