/** Jest's globalTeardown: stops what stores.setup.ts started, and removes its folder. */
export default async function stopStoresForTests(): Promise<void> {
  await globalThis.storesForTests?.disposeAsync();
}
