/** A hot path awaits only a promise, because `await` of a value costs a turn of the microtask queue. */
export type AtOnceOrLater<T> = T | Promise<T>;

export function andThen<T, U>(value: AtOnceOrLater<T>, next: (value: T) => AtOnceOrLater<U>): AtOnceOrLater<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
