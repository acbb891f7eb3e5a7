/** `await` takes both; a hot path awaits only the promise, because that costs a microtask. */
export type AtOnceOrLater<T> = T | Promise<T>;

/** Takes no turn of the microtask queue where the value is there. */
export function andThen<T, U>(value: AtOnceOrLater<T>, next: (value: T) => AtOnceOrLater<U>): AtOnceOrLater<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
