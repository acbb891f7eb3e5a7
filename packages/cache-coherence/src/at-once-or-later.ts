/** A value or a promise of it. `await` takes both; a hot path awaits only the promise, because that costs a microtask. */
export type AtOnceOrLater<T> = T | Promise<T>;

/** Goes on with a value: at once where it is there, so that what is warm takes no turn of the microtask queue. */
export function andThen<T, U>(value: AtOnceOrLater<T>, next: (value: T) => AtOnceOrLater<U>): AtOnceOrLater<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
