const hourMs = 3_600_000;
const hoursAsHours = 48;

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const counted = new Intl.RelativeTimeFormat(undefined);

/** `at` is the beginning of the hour of the use; so is what this says exact to the hour. */
export function lastUseInWords(at: string, now = Date.now()): string {
  const hours = Math.max(0, Math.floor((now - Date.parse(at)) / hourMs));
  if (hours < hoursAsHours) return relative.format(-hours, 'hour');
  return counted.format(-Math.floor(hours / 24), 'day');
}

export function LastUse({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`In the hour from ${at}`}>
      {lastUseInWords(at)}
    </time>
  );
}
