/** Ctrl-C arrives twice if npm runs the command, because the terminal sends it to npm too, which passes it on. */
const sameKeyPressMs = 500;

/**
 * Calls `act` at the first of the signals; a later one ends the process at once. `@sluice/service-runtime` has the same for
 * the services' commands, but is not packed with this one.
 */
export function onFirstSignal<T extends NodeJS.Signals>(names: readonly T[], act: (name: T) => void): void {
  let isFirst = true;
  const listener = (name: NodeJS.Signals) => {
    if (!isFirst) return;
    isFirst = false;
    act(name as T);
    const stopListening = () => names.forEach((one) => void process.off(one, listener));
    setTimeout(stopListening, sameKeyPressMs).unref();
  };
  for (const name of names) process.on(name, listener);
}
