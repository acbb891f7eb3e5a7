export function singleFlight(): <T>(name: string, task: () => Promise<T>) => Promise<T> {
  const underWay = new Map<string, Promise<unknown>>();
  return <T>(name: string, task: () => Promise<T>): Promise<T> => {
    const current = underWay.get(name);
    if (current) return current as Promise<T>;
    const started = task().finally(() => underWay.delete(name));
    underWay.set(name, started);
    return started;
  };
}
