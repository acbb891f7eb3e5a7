import { useEffect, useState } from 'react';

const settleMs = 200;

/** The value once it has stayed the same for a moment, so that typing does not ask the service for each letter. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settleMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
