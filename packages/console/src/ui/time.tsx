const format = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
  timeZoneName: 'short',
});

/** A moment of today, to the millisecond. */
export function Clock({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {clock.format(new Date(at))}
    </time>
  );
}

/** A moment in the reader's zone, which it names. `at` is ISO 8601. */
export function Time({ at }: { at: string | undefined }) {
  if (at === undefined) return null;
  return (
    <time dateTime={at} title={at}>
      {format.format(new Date(at))}
    </time>
  );
}
